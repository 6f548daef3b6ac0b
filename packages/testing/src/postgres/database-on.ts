/** `serverUrl` with another database's name; login and parameters stay. */
export function databaseOn(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return String(url);
}
