import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * Plays seeds `from` to `to` in one process per database, each its share, and hands every result to `onResult`; when
 * that answers false no further seed is begun. Rejects when a process ends by anything but its own will.
 */
export async function playSeeds({ program, urls, from, to, show = false, onResult }) {
  const children = urls.map((url, lane) => start({ program, order: { url, from: from + lane, to, step: urls.length, stopAtFirst: false, show } }));
  let stopped = false;
  await Promise.all(children.map(async ({ child, ended }) => {
    for await (const line of createInterface({ input: child.stdout })) {
      if (stopped || onResult(JSON.parse(line)) !== false) continue;
      stopped = true;
      for (const one of children) one.child.kill();
    }
    const { status, said } = await ended;
    if (!stopped && status !== 0) throw new Error(`a simulating process ended with ${status}:\n${said.slice(-2000)}`);
  }));
}

function start({ program, order }) {
  const child = spawn(process.execPath, ["--enable-source-maps", program, JSON.stringify(order)], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => { said += chunk; });
  return { child, ended: new Promise((resolve) => { child.on("close", (status) => resolve({ status, said })); }) };
}
