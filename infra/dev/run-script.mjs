import { existsSync } from "node:fs";

/**
 * Runs one root script and sets the exit status: what the script returned, or 1 when it threw. A Problem is
 * told to the reader in its own words; anything else is a fault of ours and is shown with its stack.
 */
export async function runScript([name = "", ...args]) {
  const file = new URL(`./scripts/${name}.mjs`, import.meta.url);
  if (!/^[a-z-]+$/.test(name) || !existsSync(file)) {
    console.error(`no script ${name || "(none named)"} in infra/dev/scripts`);
    process.exitCode = 1;
    return;
  }
  try {
    const { run } = await import(file.href);
    const status = await run(args);
    if (typeof status === "number") process.exitCode = status;
  } catch (error) {
    console.error(error.name === "Problem" ? `\nmainstay: ${error.message}` : error);
    process.exitCode = 1;
  }
}
