// The workflows of the case of clock jumps: a lease that is held, a retry by Retry-After, one by back-off, and a timer.
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
    charge: {
      type: "http.request", after: ["hold"], retry: { maxRetries: 3, baseMs: 100 },
      config: {
        url: { $input: "url" }, method: "POST", class: "idempotent_write", businessKey: { $input: "businessKey" }, body: { businessKey: { $input: "businessKey" } },
      },
    },
    flaky: {
      after: ["charge"], retry: { maxRetries: 2, baseMs: 1_500 },
      run: (ctx) => {
        began("flaky", ctx);
        if (ctx.attempt === 0) throw new WorkflowFailure("platform.dependency_unavailable");
        return {};
      },
    },
    park: { type: "core.delay", after: ["flaky"], config: { delayMs: { $input: "parkMs" } } },
  },
});

export const workflows = [order, defineWorkflow({ id: "clock-hold", version: "1", nodes: { hold } })];
