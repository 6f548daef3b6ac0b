import { fork } from "node:child_process";
import path from "node:path";
import { peers } from "../peers/peers.mjs";

/** One front and `workers` worker processes of a peer on a fresh database and an empty Redis. */
export async function startPeer({ name, variant, workers, servers, sink }) {
  const database = `bench_${name.replace("-", "_")}`;
  const place = { databaseUrl: await servers.reset(database), redisUrl: servers.redisUrl, variant };
  const peer = await peers[name]();
  await peer.prepare(place);
  const start = (role) => new Promise((resolve, reject) => {
    const child = fork(path.join(import.meta.dirname, "../peers/process.mjs"), {
      env: { ...process.env, NODE_ENV: "production", BENCH_SINK: String(sink.port), BENCH_PEER: JSON.stringify({ role, name, ...place }) },
      execArgv: ["--no-warnings"], stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("message", ({ port }) => resolve({ child, port }));
    child.once("exit", () => reject(new Error(`${role} of ${name} ended before it was ready`)));
  });
  const front = await start("front");
  const rest = await Promise.all(Array.from({ length: workers }, () => start("worker")));
  const children = [front, ...rest].map(({ child }) => child);
  return {
    port: () => front.port,
    request: (job) => ({ path: "/runs", body: job }),
    pids: () => [...children.map(({ pid }) => pid), servers.postgresPid, servers.redisPid],
    completed: (accepted) => peer.completed({ ...place, accepted }),
    async stop() {
      await Promise.all(children.map((child) => new Promise((resolve) => {
        child.removeAllListeners("exit").once("exit", resolve);
        child.kill("SIGKILL");
      })));
      await servers.drop(database);
    },
  };
}
