import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../services/free-port.mjs";
import { askRedis } from "./ask-redis.mjs";

/** `valkey-server` or `redis-server` on the PATH (also in the folders of root's PATH), as an absolute path. */
export function findRedisProgram() {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), "/usr/sbin", "/usr/bin", "/usr/local/bin"];
  const candidates = ["valkey-server", "redis-server"].flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return candidates.find((file) => spawnSync(file, ["--version"]).status === 0);
}

/**
 * Starts a Redis of its own in `home` on a private port, or finds it running; it outlives this process.
 * Everything written is appended to disk, so that a restart keeps it. Call it under a lock per home.
 */
export async function startRedis({ program, home, portFrom = 56379, databases = 256 }) {
  fs.mkdirSync(home, { recursive: true });
  const portFile = path.join(home, "port");
  const earlier = fs.existsSync(portFile) ? Number(fs.readFileSync(portFile, "utf8")) : undefined;
  if (earlier && (await isOurs(earlier, home))) return { port: earlier };

  for (let tries = 1; ; tries++) {
    const port = await freePort(portFrom);
    const log = fs.openSync(path.join(home, "server.log"), "a");
    const settings = {
      port, bind: "127.0.0.1", dir: home, databases, appendonly: "yes", save: "", "maxmemory-policy": "noeviction",
      pidfile: path.join(home, "redis.pid"),
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log], cwd: home });
    fs.closeSync(log);
    let ended = false;
    child.once("exit", () => (ended = true));
    child.once("error", () => (ended = true));
    child.unref();
    for (let waited = 0; waited < 200 && !ended; waited++) {
      if (await isOurs(port, home)) {
        fs.writeFileSync(portFile, String(port));
        return { port };
      }
      await sleep(50);
    }
    if (tries === 3) throw new Error(`${program} did not start on port ${port}: see ${home}/server.log`);
  }
}

/** A server that answers on the port and wrote this folder's pid file, not another clone's that took the port. */
async function isOurs(port, home) {
  const pidFile = path.join(home, "redis.pid");
  if (!fs.existsSync(pidFile)) return false;
  const info = await askRedis(port, "INFO server", { until: "tcp_port:" });
  return info?.includes(`process_id:${fs.readFileSync(pidFile, "utf8").trim()}\r\n`) ?? false;
}
