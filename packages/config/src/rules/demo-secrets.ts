import type { Ruled } from "./ruled.js";

/** Passwords that stand in examples everywhere, this repository's own among them. */
const demoPasswords: ReadonlySet<string> = new Set([
  "mainstay", "postgres", "postgresql", "redis", "password", "passwd", "secret", "changeme", "change-me", "change_me",
  "example", "demo", "test", "admin", "root", "123456",
]);

function passwordOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? decodeURIComponent(new URL(url).password).toLowerCase() : "";
}

/** The names of the variables that carry a well-known demo secret; never the secret. */
export function demoSecrets(config: Ruled): string[] {
  const carried: [string, string][] = [
    ["DATABASE_URL", passwordOf(config.databaseUrl)],
    ["DATABASE_DIRECT_URL", passwordOf(config.databaseDirectUrl)],
    ["REDIS_URL", passwordOf(config.redisUrl)],
  ];
  const found = carried.filter(([, password]) => demoPasswords.has(password)).map(([name]) => name);
  if ("apiKey" in config && config.apiKey?.startsWith("mst_demo") === true) found.push("MAINSTAY_KEY");
  return found.filter((name) => name !== "DATABASE_DIRECT_URL" || config.databaseDirectUrl !== config.databaseUrl);
}
