import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { paths } from "../paths.mjs";
import { say } from "../say.mjs";

const ask = (args, options = {}) => spawnSync("docker", args, { encoding: "utf8", timeout: 15_000, ...options });

/** True when a Docker daemon answers within a few seconds. */
export function dockerAnswers() {
  return ask(["info", "--format", "{{.ID}}"], { timeout: 5_000 }).status === 0;
}

/** The name of this clone's container for a service: two clones on one machine do not share. */
export function containerName(service) {
  return `mainstay-${service}-${createHash("sha256").update(paths.root).digest("hex").slice(0, 8)}`;
}

/**
 * Starts this clone's container of `image`, or finds it. Answers `{ port, password }` of 127.0.0.1, or
 * undefined when the image is neither present nor to be pulled. `ready` is run inside until it succeeds.
 */
export async function startContainer({ service, image, insidePort, environment, command = [], ready }) {
  const name = containerName(service);
  if (ask(["inspect", "-f", "{{.Id}}", name]).status === 0) {
    ask(["start", name]);
  } else {
    if (ask(["image", "inspect", image]).status !== 0) {
      say(`docker: pulling ${image}`);
      if (ask(["pull", "-q", image], { timeout: 5 * 60_000 }).status !== 0) return undefined;
    }
    const password = randomBytes(18).toString("base64url");
    const variables = environment(password).flatMap((pair) => ["-e", pair]);
    const labels = ["--label", `mainstay.password=${password}`];
    const made = ask(["run", "-d", "--name", name, ...labels, ...variables, "-p", `127.0.0.1::${insidePort}`, image, ...command]);
    if (made.status !== 0) throw new Error(`docker run ${image} failed: ${made.stderr.trim()}`);
  }
  for (let tries = 0; ask(["exec", name, ...ready]).status !== 0; tries++) {
    if (tries > 120) throw new Error(`the container ${name} did not get ready in 60 s: docker logs ${name}`);
    await sleep(500);
  }
  const port = Number(ask(["port", name, `${insidePort}/tcp`]).stdout.trim().split("\n")[0]?.split(":").at(-1));
  const password = ask(["inspect", "-f", '{{index .Config.Labels "mainstay.password"}}', name]).stdout.trim();
  return { port, password };
}

/** Stops this clone's container of a service; false when there is none running. */
export function stopContainer(service) {
  const name = containerName(service);
  if (ask(["inspect", "-f", "{{.State.Running}}", name]).stdout?.trim() !== "true") return false;
  return ask(["stop", name], { timeout: 60_000 }).status === 0;
}
