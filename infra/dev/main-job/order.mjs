import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";

/**
 * The workflow of the main job: code that prepares, then one effect on the outside world, then confirm. `http.request`
 * goes through the effect ledger: the receiver is given the same `Idempotency-Key` whichever process sends, however
 * often.
 */
const order = defineWorkflow({
  id: "order",
  version: "1",
  nodes: {
    prepare: {
      run: async (ctx) => {
        await sleep(ctx.run.input.prepareMs, undefined, { signal: ctx.signal });
        return { prepared: true };
      },
    },
    charge: {
      type: "http.request",
      after: ["prepare"],
      retry: { maxRetries: 3, baseMs: 200 },
      config: {
        url: { $input: "url" },
        method: "POST",
        class: "idempotent_write",
        businessKey: { $input: "businessKey" },
        timeoutMs: { $input: "timeoutMs", default: 10_000 },
        body: { businessKey: { $input: "businessKey" } },
      },
    },
    confirm: { type: "core.noop", after: ["charge"] },
  },
});

/** What `MAINSTAY_WORKFLOWS` wants of a module. */
export const workflows = [order];
