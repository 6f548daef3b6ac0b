// The workflows of the cases around Redis and the outbox. Code nodes write each execution that begins into a file, so that
// a double execution shows even where the stored state would hide it.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";

function began(nodeId, ctx) {
  const line = { runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, at: Date.now(), pid: process.pid };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

const charge = (after) => ({
  type: "http.request", after: [after], retry: { maxRetries: 3, baseMs: 100 },
  config: {
    url: { $input: "url" }, method: "POST", class: "idempotent_write", businessKey: { $input: "businessKey" },
    body: { businessKey: { $input: "businessKey" } },
  },
});

const fast = (id) => defineWorkflow({ id, version: "1", nodes: { only: { run: (ctx) => { began("only", ctx); return {}; } } } });

/** Holds its slot for `holdMs`, then charges. */
const order = defineWorkflow({
  id: "doorbell-order", version: "1",
  nodes: {
    hold: {
      run: async (ctx) => {
        began("hold", ctx);
        await sleep(ctx.run.input.holdMs ?? 0, undefined, { signal: ctx.signal });
        return {};
      },
    },
    charge: charge("hold"),
  },
});

/** Waits on a timer without a slot, then charges. */
const delayed = defineWorkflow({
  id: "doorbell-delayed", version: "1",
  nodes: {
    wait: { type: "core.delay", config: { delayMs: { $input: "delayMs" } } },
    due: { after: ["wait"], run: (ctx) => { began("due", ctx); return {}; } },
    charge: charge("due"),
  },
});

/** Fails once and waits in its back-off. */
const retried = defineWorkflow({
  id: "doorbell-retried", version: "1",
  failures: { not_yet: { class: "TRANSIENT", message: "Not yet", remediation: "Wait" } },
  nodes: {
    again: {
      retry: { maxRetries: 2, baseMs: Number(process.env.CASE_RETRY_BASE_MS ?? 1_000) },
      run: (ctx) => {
        began("again", ctx);
        if (ctx.attempt === 0) throw ctx.failure("app.not_yet");
        return {};
      },
    },
    charge: charge("again"),
  },
});

export const workflows = [fast("doorbell-fast"), order, delayed, retried, ...(process.env.CASE_WORKFLOW_IDS ?? "").split(" ").filter(Boolean).map(fast)];
