import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { paths } from "../../infra/dev/paths.mjs";
import { Problem } from "../../infra/dev/problem.mjs";
import { installPackages } from "../../infra/dev/packages/install-packages.mjs";
import { isDebianRoot } from "../../infra/dev/packages/is-debian-root.mjs";
import { say } from "../../infra/dev/say.mjs";

const answers = (host) => spawnSync("docker", ["info", "--format", "{{.ID}}"], { env: withHost(host), timeout: 10_000 }).status === 0;
const withHost = (host) => (host ? { ...process.env, DOCKER_HOST: host } : process.env);
const onPath = (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

/**
 * A Docker engine as `{ environment, stop }`: the one that answers, else, for root on Debian, one of this lane's
 * own (docker.io, installed when missing) whose data lies in .data/docker and which `stop` ends.
 */
export async function startEngine() {
  if (answers(undefined)) return { environment: {}, stop: async () => undefined };
  if (!isDebianRoot()) {
    throw new Problem("not run: a Docker engine, get it by starting Docker (or run as root on Debian, where docker.io is installed)");
  }
  if (!onPath("dockerd")) install();
  const home = path.join(paths.data, "docker");
  fs.mkdirSync(home, { recursive: true });
  const runtime = fs.mkdtempSync("/run/mainstay-docker-"); // a socket's path must be short
  const host = `unix://${runtime}/docker.sock`;
  const log = fs.openSync(path.join(home, "engine.log"), "w");
  const args = ["--data-root", path.join(home, "data"), "--exec-root", path.join(runtime, "exec"), "--pidfile", path.join(runtime, "pid"), "--host", host];
  const engine = spawn("dockerd", args, { stdio: ["ignore", log, log] });
  const ended = new Promise((resolve) => engine.once("exit", resolve));
  const stop = async () => {
    engine.kill("SIGTERM");
    await Promise.race([ended, sleep(30_000, undefined, { ref: false })]);
    engine.kill("SIGKILL");
    fs.rmSync(runtime, { recursive: true, force: true });
  };
  for (let tries = 0; !answers(host); tries++) {
    if (engine.exitCode !== null || tries === 120) {
      await stop();
      throw new Error(`dockerd did not start: see ${home}/engine.log`);
    }
    await sleep(500);
  }
  say("engine    dockerd of this lane");
  return { environment: { DOCKER_HOST: host }, stop };
}

function install() {
  say("no Docker engine: installing Debian's with apt-get install docker.io iptables");
  if (!installPackages(["docker.io", "iptables"])) throw new Problem("apt-get could not install docker.io, see its words above");
}
