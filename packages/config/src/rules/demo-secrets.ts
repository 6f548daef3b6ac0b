import type { Ruled } from "./ruled.js";

/** Passwords that stand in examples everywhere, this repository's own among them. */
const demoPasswords: ReadonlySet<string> = new Set([
  "mainstay", "postgres", "postgresql", "redis", "password", "passwd", "secret", "changeme", "change-me", "change_me",
  "example", "demo", "test", "admin", "root", "123456",
]);

function passwordOf(url: string | undefined): string {
  // of several hosts, as Sentinels have, the first will do
  const one = url?.replace(/^redis\+sentinel:/, "redis:").replace(/^([^/]*\/\/[^/]*?),[^/]*/, "$1");
  return one !== undefined && URL.canParse(one) ? decodeURIComponent(new URL(one).password).toLowerCase() : "";
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
