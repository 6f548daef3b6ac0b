// The probe nodes of the fault cases about leases and shutdown. Code nodes write each execution that begins into a file, so
// that a double execution shows even where the stored state would hide it. Times and the receiver stand in the run's input.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";

function began(nodeId, ctx) {
  const line = { runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, pid: process.pid, at: Date.now() };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

/** Waits, heeding the signal. */
const wait = (nodeId, ms) => ({
  run: async (ctx) => {
    began(nodeId, ctx);
    await sleep(ms(ctx.run.input), undefined, { signal: ctx.signal });
    return { nodeId, fence: ctx.fence };
  },
});

/** Holds the process's event loop with computation. */
const burn = (nodeId, ms) => ({
  run: (ctx) => {
    began(nodeId, ctx);
    for (const end = Date.now() + ms(ctx.run.input); Date.now() < end;);
    return { nodeId };
  },
});

/** One accepted request per run and node at the receiver. */
const effect = (nodeId) => ({
  run: (ctx) => {
    began(nodeId, ctx);
    return ctx.effect(nodeId, {
      class: "idempotent_write", businessKey: `${ctx.run.id} ${nodeId}`, destination: "receiver", timeoutMs: ctx.run.input.timeoutMs ?? 20_000,
    }, async ({ idempotencyKey, signal }) => {
      const answer = await fetch(ctx.run.input.url, {
        method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey: `${ctx.run.id} ${nodeId}` }), signal,
      });
      return answer.json();
    });
  },
});

const line = (id, nodes) => defineWorkflow({
  id, version: "1",
  nodes: Object.fromEntries(Object.entries(nodes).map(([name, node], index, all) => [name, { ...node, ...(index === 0 ? {} : { after: [all[index - 1][0]] }) }])),
});

const hold = line("probe-hold", { hold: wait("hold", ({ holdMs = 0 }) => holdMs) });
const burning = line("probe-burn", { first: effect("first"), burn: burn("burn", ({ burnMs = 0 }) => burnMs), last: effect("last") });
const order = line("probe-order", {
  before: wait("before", ({ beforeMs = 0 }) => beforeMs), charge: effect("charge"), after: wait("after", ({ afterMs = 0 }) => afterMs),
});

/** Twenty nodes one after the other. */
const long = line("probe-long", Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, wait(`n${index}`, ({ stepMs = 0 }) => stepMs)])));

/** Throws after a while what no class claims: it is not retried. */
const throws = line("probe-throw", {
  fail: {
    run: async (ctx) => {
      began("fail", ctx);
      await sleep(ctx.run.input.holdMs, undefined, { signal: ctx.signal });
      throw new Error("thrown on purpose");
    },
  },
});

export const workflows = [hold, burning, order, long, throws];
