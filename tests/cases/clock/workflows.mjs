// The workflows of the case of clock jumps: a lease that is held, a timer, a retry by back-off, and one by Retry-After.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow, WorkflowFailure } from "@mainstay/sdk";

function began(nodeId, ctx) {
  const line = { runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, at: Date.now(), pid: process.pid };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

const hold = {
  run: async (ctx) => {
    began("hold", ctx);
    await sleep(ctx.run.input.holdMs ?? 0, undefined, { signal: ctx.signal });
    return {};
  },
};

const order = defineWorkflow({
  id: "clock-order", version: "1",
  nodes: {
    hold,
    park: { type: "core.delay", after: ["hold"], config: { delayMs: { $input: "parkMs" } } },
    flaky: {
      after: ["park"], retry: { maxRetries: 2, baseMs: 1_500 },
      run: (ctx) => {
        began("flaky", ctx);
        if (ctx.attempt === 0) throw new WorkflowFailure("platform.dependency_unavailable");
        return {};
      },
    },
    charge: {
      type: "http.request", after: ["flaky"], retry: { maxRetries: 3, baseMs: 100 },
      config: {
        url: { $input: "url" }, method: "POST", class: "idempotent_write", businessKey: { $input: "businessKey" }, body: { businessKey: { $input: "businessKey" } },
      },
    },
  },
});

export const workflows = [order, defineWorkflow({ id: "clock-hold", version: "1", nodes: { hold } })];
