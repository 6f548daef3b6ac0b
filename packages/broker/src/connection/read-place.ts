import type { RedisOptions } from "ioredis";

/**
 * The driver's options for a broker's URL: `redis://` and `rediss://` (TLS) with user, password, database number and `?family=6`, or
 * `redis+sentinel://[user:password@]host:port[,host:port…]/<name of the primary>[/<database>][?sentinelPassword=…]`.
 *
 * @throws when the URL is of neither form.
 */
export function readPlace(url: string): RedisOptions {
  const sentinel = /^redis\+sentinel:\/\/(?:([^@/]*)@)?([^/@]+)\/([^/?]+)(?:\/(\d+))?(?:\?(.*))?$/.exec(url);
  if (sentinel !== null) {
    const [, login, hosts = "", name = "", db, query] = sentinel;
    const sentinelPassword = new URLSearchParams(query).get("sentinelPassword");
    return {
      ...readLogin(login),
      sentinels: hosts.split(",").map((host) => addressOf(host, 26_379)),
      name: decodeURIComponent(name),
      sentinelCommandTimeout: 2_000,
      ...(db === undefined ? {} : { db: Number(db) }),
      ...(sentinelPassword === null ? {} : { sentinelPassword }),
    };
  }
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url);
  if (protocol !== "redis:" && protocol !== "rediss:") throw new Error("a broker's URL starts with redis://, rediss:// or redis+sentinel://");
  const db = /^\/(\d+)$/.exec(pathname)?.[1];
  return {
    ...readLogin(password === "" && username === "" ? undefined : `${username}:${password}`),
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? 6379 : Number(port),
    ...(db === undefined ? {} : { db: Number(db) }),
    ...(searchParams.get("family") === null ? {} : { family: Number(searchParams.get("family")) }),
    ...(protocol === "rediss:" ? { tls: {} } : {}),
  };
}

function readLogin(login: string | undefined): Pick<RedisOptions, "username" | "password"> {
  if (login === undefined) return {};
  const colon = login.indexOf(":");
  const [username, password] = [login.slice(0, Math.max(0, colon)), login.slice(colon + 1)] as const;
  return {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
  };
}

function addressOf(text: string, usualPort: number): { host: string; port: number } {
  const [, host = text, port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return { host: host.replace(/^\[|\]$/g, ""), port: port === undefined ? usualPort : Number(port) };
}
