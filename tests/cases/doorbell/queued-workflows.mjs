// What the worker of a second pool serves.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";

export const workflows = [defineWorkflow({
  id: "doorbell-queued", version: "1",
  nodes: {
    hold: {
      run: async (ctx) => {
        const line = { runId: ctx.run.id, nodeId: "hold", fence: ctx.fence, attempt: ctx.attempt, at: Date.now(), pid: process.pid };
        appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
        await sleep(ctx.run.input.holdMs, undefined, { signal: ctx.signal });
        return {};
      },
    },
    charge: {
      type: "http.request", after: ["hold"], retry: { maxRetries: 3, baseMs: 100 },
      config: {
        url: { $input: "url" }, method: "POST", class: "idempotent_write", businessKey: { $input: "businessKey" },
        body: { businessKey: { $input: "businessKey" } },
      },
    },
  },
})];
