// What the code nodes of these tests write down themselves, one line each, so that an execution shows even where the
// stored state would hide it.
import { appendFileSync } from "node:fs";

/** Writes one line: `what` happened in the execution of `nodeId`. */
export function note(ctx, nodeId, what, more = {}) {
  const line = { what, runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, pid: process.pid, at: Date.now(), ...more };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

/** A code node that writes that it began. */
export const node = (nodeId, run, more = {}) => ({
  ...more,
  run: (ctx) => {
    note(ctx, nodeId, "began");
    return run(ctx);
  },
});

/** Blocks the event loop. */
export function block(forMs) {
  const end = Date.now() + forMs;
  while (Date.now() < end);
}
