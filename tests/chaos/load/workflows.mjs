// The workflows of the chaos lane. Code nodes write each execution that begins into a file, so that a double execution
// shows even where the stored state would hide it.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";

function began(nodeId, ctx) {
  const line = { runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, pid: process.pid };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

/** Waits, heeding the signal. */
function node(nodeId, waitMs) {
  return {
    run: async (ctx) => {
      began(nodeId, ctx);
      if (ctx.run.input.say !== undefined) ctx.logger.info(ctx.run.input.say);
      await sleep(waitMs(ctx.run.input), undefined, { signal: ctx.signal });
      return { nodeId, fence: ctx.fence };
    },
  };
}

const order = defineWorkflow({
  id: "chaos-order",
  version: "1",
  nodes: {
    first: node("first", ({ firstMs = 0 }) => firstMs),
    charge: {
      type: "http.request",
      after: ["first"],
      retry: { maxRetries: 5, baseMs: 100 },
      config: {
        url: { $input: "url" }, method: "POST", class: { $input: "class", default: "idempotent_write" },
        businessKey: { $input: "businessKey" }, timeoutMs: { $input: "timeoutMs", default: 5_000 },
        body: { businessKey: { $input: "businessKey" } }, propagateTrace: { $input: "propagateTrace", default: false },
      },
    },
    last: { after: ["charge"], ...node("last", ({ lastMs = 0 }) => lastMs) },
  },
});

const hold = defineWorkflow({ id: "chaos-hold", version: "1", nodes: { hold: node("hold", ({ holdMs = 0 }) => holdMs) } });

/** A write that must not be repeated, and that the other side can be asked about. */
const reconciled = defineWorkflow({
  id: "chaos-reconciled",
  version: "1",
  nodes: {
    pay: {
      retry: { maxRetries: 2, baseMs: 100 },
      run: (ctx) => {
        began("pay", ctx);
        const { url, businessKey, timeoutMs } = ctx.run.input;
        return ctx.effect("pay", {
          class: "non_idempotent_write", businessKey, destination: "receiver", timeoutMs,
          reconcile: async ({ idempotencyKey, signal }) => {
            const answer = await fetch(`${url}/find/${idempotencyKey}`, { signal });
            return answer.ok ? answer.json() : undefined;
          },
        }, async ({ idempotencyKey, signal }) => {
          const answer = await fetch(url, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey }), signal });
          return answer.json();
        });
      },
    },
  },
});

/** Fifty nodes that end in one tick. */
const fan = defineWorkflow({
  id: "chaos-fan",
  version: "1",
  nodes: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`n${index}`, node(`n${index}`, () => 0)])),
});

export const workflows = [order, hold, reconciled, fan];
