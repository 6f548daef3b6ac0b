import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../../apps/cli/dist/main.js", import.meta.url));

/** Runs the built command line against an api, as a process of its own; `env` is added to its environment. */
export function runCli(
  args: readonly string[], { url, key, env = {} }: { url: string; key: string; env?: Readonly<Record<string, string>> },
): Promise<{ status: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [entry, ...args], {
      env: { PATH: process.env["PATH"], NO_COLOR: "1", MAINSTAY_URL: url, MAINSTAY_KEY: key, ...env }, stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => { said.out += chunk.toString(); });
    child.stderr.on("data", (chunk: Buffer) => { said.err += chunk.toString(); });
    child.on("close", (status) => { resolve({ ...said, status }); });
  });
}
