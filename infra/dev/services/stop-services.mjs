import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { paths } from "../paths.mjs";
import { stopCluster } from "../postgres/stop-cluster.mjs";
import { askRedis } from "../redis/ask-redis.mjs";
import { dockerAnswers, stopContainer } from "./docker.mjs";

/** Stops what findPostgres and findRedis started for this clone, and nothing else. Answers the names of what it stopped. */
export async function stopServices() {
  const stopped = [];
  if (await stopCluster({ home: path.join(paths.data, "postgres") })) stopped.push("postgres");
  if (await stopRedis(path.join(paths.data, "redis"))) stopped.push("redis");
  if (dockerAnswers()) {
    for (const service of ["postgres", "redis"]) if (stopContainer(service)) stopped.push(`${service} (Docker)`);
  }
  return stopped;
}

async function stopRedis(home) {
  const portFile = path.join(home, "port");
  const pidFile = path.join(home, "redis.pid");
  if (!fs.existsSync(portFile) || !fs.existsSync(pidFile)) return false;
  const port = Number(fs.readFileSync(portFile, "utf8"));
  const pid = fs.readFileSync(pidFile, "utf8").trim();
  const info = await askRedis(port, "INFO server", { until: "tcp_port:" });
  if (!info?.includes(`process_id:${pid}\r\n`)) return false;
  await askRedis(port, "SHUTDOWN NOSAVE", { until: "-" });
  for (let waited = 0; waited < 100 && (await askRedis(port, "PING")); waited++) await sleep(50);
  return true;
}
