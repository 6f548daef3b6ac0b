import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { requireTool } from "./require-tool.js";

/** A time of day of its own for processes that are started with its environment. */
export type FakeClock = Readonly<{
  /** To be laid over the environment of each process that lives on this clock. */
  environment: Readonly<Record<string, string>>;
  /** From now on its time of day is `offsetMs` away from the machine's: an instant step for every running process on it. */
  step: (offsetMs: number) => void;
  /** Removes its file; processes on it fall back to the machine's time. */
  remove: () => void;
}>;

/**
 * Makes a clock that starts on the machine's time. Only the time of day is faked: monotonic clocks, timers and file times
 * are the machine's own, as they are when an administrator sets the clock.
 *
 * @throws when libfaketime is not there and cannot be got; the message says how.
 */
export async function createFakeClock(): Promise<FakeClock> {
  const library = await requireTool("libfaketime");
  if ("notRun" in library) throw new Error(`not run: ${library.notRun}`);
  const folder = mkdtempSync(path.join(os.tmpdir(), "mainstay-clock-"));
  chmodSync(folder, 0o755); // Postgres runs under an account of its own
  const file = path.join(folder, "offset");
  const step = (offsetMs: number): void => {
    const seconds = (offsetMs / 1_000).toFixed(3);
    writeFileSync(`${file}.new`, `${offsetMs < 0 ? seconds : `+${seconds}`}\n`, { mode: 0o644 });
    renameSync(`${file}.new`, file); // readers see the old offset or the new one, never half of it
  };
  step(0);
  return {
    environment: {
      LD_PRELOAD: library.path, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1", NO_FAKE_STAT: "1",
    },
    step,
    remove: () => { rmSync(folder, { recursive: true, force: true }); },
  };
}
