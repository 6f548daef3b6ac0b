// The probe nodes of the fault cases about leases and shutdown. Code nodes write each execution that begins into a file, so
// that a double execution shows even where the stored state would hide it. Times and the receiver stand in the run's input.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";
import pg from "pg";

function began(nodeId, ctx) {
  const line = { runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, pid: process.pid, at: Date.now() };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

/** Waits, heeding the signal. */
const wait = (nodeId, ms) => ({
  run: async (ctx) => {
    began(nodeId, ctx);
    await sleep(ms(ctx.run.input, ctx.attempt), undefined, { signal: ctx.signal });
    return { nodeId, fence: ctx.fence };
  },
});

/** Holds the process's event loop with computation; with `onlyFirst` in the input a second attempt does not. */
const burn = (nodeId, ms) => ({
  run: (ctx) => {
    began(nodeId, ctx);
    const burnMs = ctx.run.input.onlyFirst && ctx.attempt > 0 ? 0 : ms(ctx.run.input);
    for (const end = performance.now() + burnMs; performance.now() < end;);
    return { nodeId };
  },
});

/** One accepted request per run and node at the receiver. */
const effect = (nodeId) => ({
  run: (ctx) => {
    began(nodeId, ctx);
    return send(nodeId, ctx);
  },
});

function send(nodeId, ctx) {
  return ctx.effect(nodeId, {
    class: "idempotent_write", businessKey: `${ctx.run.id} ${nodeId}`, destination: "receiver", timeoutMs: ctx.run.input.timeoutMs ?? 20_000,
  }, async ({ idempotencyKey, signal }) => {
    const answer = await fetch(ctx.run.input.url, {
      method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey: `${ctx.run.id} ${nodeId}` }), signal,
    });
    return answer.json();
  });
}

const line = (id, nodes) => defineWorkflow({
  id, version: "1",
  nodes: Object.fromEntries(Object.entries(nodes).map(([name, node], index, all) => [name, { ...node, ...(index === 0 ? {} : { after: [all[index - 1][0]] }) }])),
});

const hold = line("probe-hold", { hold: wait("hold", ({ holdMs = 0 }) => holdMs) });
const burning = line("probe-burn", { first: effect("first"), burn: burn("burn", ({ burnMs = 0 }) => burnMs), last: effect("last") });
/** Its first node takes `againMs` at a further attempt, where that is given. */
const order = line("probe-order", {
  before: wait("before", ({ beforeMs = 0, againMs = beforeMs }, attempt) => (attempt > 0 ? againMs : beforeMs)), charge: effect("charge"), after: wait("after", ({ afterMs = 0 }) => afterMs),
});

/** Twenty nodes one after the other. */
const long = line("probe-long", Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, wait(`n${index}`, ({ stepMs = 0 }) => stepMs)])));

/** Reaches outside again and again, each time under a key of its own. */
const reaches = line("probe-reach", {
  reach: {
    run: async (ctx) => {
      began("reach", ctx);
      const { url, times, everyMs } = ctx.run.input;
      for (let index = 0; index < times; index++) {
        const businessKey = `${ctx.run.id} ${index}`;
        await ctx.effect(`reach-${index}`, { class: "idempotent_write", businessKey, destination: "receiver", timeoutMs: 5_000 }, async ({ idempotencyKey, signal }) => {
          const answer = await fetch(url, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey, pid: process.pid }), signal });
          return answer.json();
        });
        await sleep(everyMs, undefined, { signal: ctx.signal });
      }
      return { times };
    },
  },
});

/** Ten nodes side by side that all fail in one and the same instant, for good. */
const crowd = defineWorkflow({
  id: "probe-crowd", version: "1",
  failures: { together: { class: "NON_RETRYABLE", message: "All at once", remediation: "None, it is a test" } },
  nodes: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`n${index}`, {
    retry: { maxRetries: 0 },
    run: async (ctx) => {
      began(`n${index}`, ctx);
      await sleep(200 - (Date.now() % 100), undefined, { signal: ctx.signal });
      throw ctx.failure("app.together");
    },
  }])),
});

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

/** Ends at the instant that stands in a file, once there is one, and `jitterMs` later. Milliseconds of the machine's clock. */
const ending = line("probe-until", {
  until: {
    run: async (ctx) => {
      began("until", ctx);
      const { endAtFile, jitterMs } = ctx.run.input;
      while (!existsSync(endAtFile)) await sleep(20, undefined, { signal: ctx.signal });
      const leftMs = Number(readFileSync(endAtFile, "utf8")) + jitterMs - Date.now();
      if (leftMs > 0) await sleep(leftMs, undefined, { signal: ctx.signal });
      return { fence: ctx.fence };
    },
  },
});

/** Keeps a connection of its own busy with one slow statement. */
const slowSql = line("probe-sql", {
  query: {
    run: async (ctx) => {
      began("query", ctx);
      const client = new pg.Client({ connectionString: process.env.DATABASE_URL, application_name: "probe-sql" });
      await client.connect();
      try {
        await client.query("select pg_sleep($1)", [ctx.run.input.holdMs / 1_000]);
      } finally {
        await client.end();
      }
      return {};
    },
  },
});

/** Its first attempt outlasts the node's time-out by far, then wants to reach outside; a further one does so at once. */
const late = (id, timeoutMs, heeds) => defineWorkflow({
  id, version: "1",
  nodes: {
    late: {
      timeoutMs, retry: { maxRetries: 1, baseMs: 100 },
      run: async (ctx) => {
        began("late", ctx);
        if (ctx.attempt === 0) {
          ctx.signal.addEventListener("abort", () => { appendFileSync(ctx.run.input.abortedFile, `${ctx.run.id}\n`); }, { once: true });
          await sleep(ctx.run.input.holdMs, undefined, heeds ? { signal: ctx.signal } : {});
        }
        return send("late", ctx);
      },
    },
  },
});

/** Waits without a slot again and again, between short nodes. */
const parks = line("probe-park", {
  first: wait("first", ({ holdMs = 0 }) => holdMs),
  park: { type: "core.delay", config: { delayMs: { $input: "parkMs" } } },
  second: wait("second", ({ holdMs = 0 }) => holdMs),
  again: { type: "core.delay", config: { delayMs: { $input: "parkMs" } } },
  third: wait("third", ({ holdMs = 0 }) => holdMs),
});

export const workflows = [
  hold, burning, order, long, reaches, crowd, throws, ending, slowSql, parks,
  late("probe-late-10s", 10_000, false), late("probe-late-10s-heeds", 10_000, true),
  late("probe-late-1s", 1_000, false), late("probe-late-1s-heeds", 1_000, true),
];
