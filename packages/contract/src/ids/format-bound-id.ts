/** Joins a workspace and the opaque half (a uuid) to the plain bound id that bodies carry. */
export function formatBoundId(workspace: string, opaque: string): string {
  return `${workspace}/${opaque}`;
}
