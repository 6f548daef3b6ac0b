// Code nodes in every shape: what they are given, what they return, how they fail.
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";
import { z } from "zod";
import { node, note } from "./ledger.mjs";

const typed = defineWorkflow({
  id: "proof-typed", version: "1",
  // what the refinement says no JSON Schema can say: only the worker refuses it
  input: z.object({ order: z.string(), cents: z.number().int() }).refine(({ cents }) => cents !== 13, "not 13"),
  nodes: {
    price: node("price", ({ run, input }) => ({ total: run.input.cents * 2, given: input })),
    charge: node("charge", ({ input }) => ({ paid: input.total, order: input.order }), {
      after: ["price"], input: (done, run) => ({ total: done.price.total, order: run.input.order }),
    }),
  },
});

const broken = defineWorkflow({
  id: "proof-broken-schema", version: "1",
  input: { "~standard": { version: 1, vendor: "test", validate: () => { throw new Error("the schema itself is broken"); } } },
  nodes: { only: node("only", () => ({})) },
});

const legs = Array.from({ length: 12 }, (_, index) => `leg${index}`);
const fan = defineWorkflow({
  id: "proof-fan", version: "1",
  nodes: {
    start: node("start", () => ({ base: 10 })),
    ...Object.fromEntries(legs.map((id, index) => [id, node(id, async ({ input }) => {
      await sleep(index % 3);
      return { value: input + index };
    }, { after: ["start"], input: (done) => done.start.base })])),
    join: node("join", ({ input }) => ({ sum: input }), {
      after: legs, input: (done) => legs.reduce((sum, id) => sum + done[id].value, 0),
    }),
    copy: { type: "core.identity", after: ["join"] },
    tail: node("tail", ({ input }) => input, { after: ["start"], input: (done) => done.start.base }),
  },
});

const optional = defineWorkflow({
  id: "proof-optional", version: "1",
  failures: { no_luck: { class: "NON_RETRYABLE", message: "No luck", remediation: "Try another day" } },
  nodes: {
    luck: node("luck", (ctx) => { throw ctx.failure("app.no_luck"); }, { optional: true }),
    cheer: node("cheer", () => ({}), { after: ["luck"] }),
    party: node("party", () => ({}), { after: ["cheer", "work"] }),
    work: node("work", () => ({ done: true })),
  },
});

const throwers = {
  app_final: (ctx) => { throw ctx.failure("app.declined", { operation: "charge" }); },
  app_passing: (ctx) => { if (ctx.attempt < 2) throw ctx.failure("app.busy"); },
  app_exhausted: (ctx) => { throw ctx.failure("app.busy"); },
  app_unknown_code: (ctx) => { throw ctx.failure("app.nobody_registered_me"); },
  plain: () => { throw new Error("ECONNRESET timeout 503"); },
  text: () => { throw "text"; },
  nothing: () => { throw undefined; },
  hostile: () => { throw new Proxy({}, { get() { throw new Error("hands off"); }, has() { throw new Error("hands off"); } }); },
  reset: ({ attempt }) => { if (attempt < 2) throw Object.assign(new Error("x"), { code: "ECONNRESET" }); },
  overloaded: ({ attempt }) => { if (attempt < 1) throw new Error("wrapped", { cause: { response: { status: 503 } } }); },
  retry_after: (ctx) => { if (ctx.attempt < 1) throw ctx.failure("platform.provider_overloaded", { retryAfterMs: 1_500 }); },
  retry_after_header: ({ attempt }) => {
    if (attempt < 1) throw Object.assign(new Error("x"), { status: 503, headers: new Headers({ "retry-after": "2" }) });
  },
  odd_detail: (ctx) => {
    throw ctx.failure("app.declined", { component: "a\u0000b", operation: "c\ud800d", attributes: { "na\u0000me": "va\u0000lue", big: 1n, deep: { a: 1 }, long: "x".repeat(300_000), fine: 7 } });
  },
};

const fails = defineWorkflow({
  id: "proof-fails", version: "1",
  failures: {
    declined: { class: "NON_RETRYABLE", message: "The card was declined", remediation: "Ask the payer" },
    busy: { class: "TRANSIENT", message: "The bank is busy", remediation: "Wait" },
  },
  nodes: {
    fail: node("fail", (ctx) => {
      throwers[ctx.run.input.how](ctx);
      return { attempt: ctx.attempt };
    }, { retry: { maxRetries: 2, baseMs: 400 } }),
  },
});

/** The first execution outlasts its time-out, deaf to the signal, and returns; the second one is quick. */
const outlasts = defineWorkflow({
  id: "proof-outlasts", version: "1",
  nodes: {
    slow: node("slow", async (ctx) => {
      if (ctx.attempt > 0) return { attempt: ctx.attempt };
      ctx.signal.addEventListener("abort", () => note(ctx, "slow", "aborted"));
      await sleep(1_200);
      const late = await ctx.effect("late", { class: "read_only", destination: "nowhere" }, () => "sent").catch((error) => error.constructor.name);
      note(ctx, "slow", "late", { late });
      return { attempt: 0 };
    }, { timeoutMs: 400, retry: { maxRetries: 1, baseMs: 50 } }),
  },
});

/** Longer than every default time-out scaled to this fleet, without one of its own. */
const long = defineWorkflow({ id: "proof-long", version: "1", nodes: { long: node("long", async () => { await sleep(4_000); return { long: true }; }) } });

const nest = (depth) => {
  let value = 1;
  for (let at = 0; at < depth; at++) value = [value];
  return value;
};
const cycle = () => {
  const one = { name: "one" };
  one.self = one;
  return one;
};
const limit = 256 * 1024;
const outputs = {
  nothing: () => undefined,
  at_limit: () => "x".repeat(limit - 2),
  too_big: () => "x".repeat(limit - 1),
  huge: () => Array.from({ length: 1_000 }, () => "y".repeat(50_000)),
  cyclic: cycle,
  bigint: () => ({ count: 1n }),
  throws: () => ({ toJSON() { throw new Error("no"); } }),
  function: () => () => 1,
  odd_text: () => ({ text: "a\u0000b", literal: "\\u0000", lone: "x\ud800y", emoji: "😀", marks: "\u202Eabc", "na\u0000me": 1, "lo\udc00ne": 2, "li\\u0000teral": 3, "\\\u0000": 4 }),
  numbers: () => ({ nan: NaN, minusZero: -0, big: 1e21, sum: 0.1 + 0.2, safe: 9007199254740991 }),
  proto: () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'),
  poison: () => ({ poison: true }),
  deep: () => nest(900),
  deeper: () => nest(5_000),
  deepest: () => nest(100_000),
};

const returns = defineWorkflow({
  id: "proof-returns", version: "1",
  nodes: {
    give: node("give", ({ run }) => outputs[run.input.what]()),
    after: node("after", ({ input }) => ({ seen: input === undefined ? "undefined" : typeof input, polluted: {}.polluted === true }), { after: ["give"], input: (done) => done.give }),
  },
});

const talks = defineWorkflow({
  id: "proof-talks", version: "1",
  nodes: { talk: node("talk", ({ logger }) => {
    logger.info("a\u0000b\ud800", { text: "c\u0000d", big: 1n, cycle: cycle(), none: undefined, nothing: null });
    return { said: true };
  }) },
});

const quick = defineWorkflow({ id: "proof-quick", version: "1", nodes: { only: node("only", () => ({ quick: true })) } });

export const workflows = [typed, broken, fan, optional, fails, outlasts, long, returns, talks, quick];
