// What the code nodes of these tests write down themselves, one line each, so that an execution shows even where the
// stored state would hide it.
import { appendFileSync } from "node:fs";

/** Writes one line: `what` happened in the execution of `nodeId`. */
export function note(ctx, nodeId, what, more = {}) {
  const line = { what, runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, pid: process.pid, at: Date.now(), ...more };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

/** A code node that writes that it began, and by what it was ended. */
export const node = (nodeId, run, more = {}) => ({
  ...more,
  run: async (ctx) => {
    note(ctx, nodeId, "began");
    let by = "return";
    try {
      return await run(ctx);
    } catch (thrown) {
      by = thrown instanceof Error ? thrown.constructor.name : "throw";
      throw thrown;
    } finally {
      note(ctx, nodeId, "left", { by });
    }
  },
});

/** Blocks the event loop. */
export function block(forMs) {
  const end = Date.now() + forMs;
  while (Date.now() < end);
}
