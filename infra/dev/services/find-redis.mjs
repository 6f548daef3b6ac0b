import path from "node:path";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { isDebianRoot } from "../packages/is-debian-root.mjs";
import { installRedis } from "../redis/install-redis.mjs";
import { findRedisProgram, startRedis } from "../redis/start-redis.mjs";
import { say } from "../say.mjs";
import { withLock } from "../set-up/with-lock.mjs";
import { dockerAnswers, startContainer } from "./docker.mjs";

const choices =
  "set REDIS_URL=redis://…, put redis-server or valkey-server on the PATH (Debian: apt-get install redis-server), " +
  "start Docker, or choose MAINSTAY_BROKER=none";

/**
 * The Redis of this clone as `{ url, how }`, or `{ url: undefined, how }` for brokerless. Order: what
 * `MAINSTAY_BROKER=none` or `REDIS_URL` says, a server on the PATH, Docker, Debian's package for root,
 * brokerless with a loud word. In CI, or with MAINSTAY_BROKER=redis, the last is an error instead.
 */
export async function findRedis({ environment = process.env } = {}) {
  const wanted = environment.MAINSTAY_BROKER || undefined;
  if (wanted !== undefined && wanted !== "redis" && wanted !== "none") {
    throw new Problem(`MAINSTAY_BROKER must be redis or none: ${choices}`);
  }
  if (wanted === "none") return { url: undefined, how: "none, as MAINSTAY_BROKER says" };
  if (environment.REDIS_URL) return { url: environment.REDIS_URL, how: "REDIS_URL" };
  return withLock("redis", async () => {
    const found = (await fromProgram()) ?? (await fromDocker()) ?? (await fromPackage());
    if (found) return found;
    if (wanted === "redis" || isCI(environment)) throw new Problem(`no Redis: ${choices}`);
    for (const line of ["", "!! No Redis was found: running BROKERLESS. The workers find their runs by sweeping Postgres:", "!! slower, nothing is lost. For the broker:", `!! ${choices}`, ""]) say(line);
    return { url: undefined, how: "none: no Redis was found" };
  });
}

async function fromProgram() {
  const program = findRedisProgram();
  if (!program) return undefined;
  const { port } = await startRedis({ program, home: path.join(paths.data, "redis") });
  return { url: `redis://127.0.0.1:${port}`, how: program };
}

async function fromDocker() {
  if (!dockerAnswers()) return undefined;
  const container = await startContainer({
    service: "redis",
    image: "redis:7",
    insidePort: 6379,
    environment: () => [],
    command: ["redis-server", "--appendonly", "yes", "--databases", "256"],
    ready: ["redis-cli", "ping"],
  });
  return container && { url: `redis://127.0.0.1:${container.port}`, how: "Docker, image redis:7" };
}

async function fromPackage() {
  if (!isDebianRoot() || !installRedis()) return undefined;
  const started = await fromProgram();
  return started && { ...started, how: `${started.how}, installed with apt-get` };
}

function isCI(environment) {
  return Boolean(environment.CI) && environment.CI !== "false" && environment.CI !== "0";
}
