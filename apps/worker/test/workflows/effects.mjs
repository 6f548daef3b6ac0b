// Nodes that act on the outside world through the ledger. A run's input says how; `tag` names the act to the receiver.
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";
import { node, note } from "./ledger.mjs";

/** One request, told in the ledger right before it leaves. An answer that is no success is thrown with its status. */
async function post(ctx, { idempotencyKey, signal, launch }, { url, tag, method = "POST" }) {
  note(ctx, "act", "launched", { launch });
  const answer = await fetch(`${url}/${tag}`, { method, headers: { "idempotency-key": idempotencyKey }, signal, ...(method === "GET" ? {} : { body: JSON.stringify({ businessKey: tag }) }) });
  if (answer.status === 402) throw ctx.notApplied("app.declined_for_now");
  if (!answer.ok) throw Object.assign(new Error("refused"), { status: answer.status });
  return answer.json();
}

/** Asks the receiver, whose answer's `said` is the reconciler's. */
async function ask(ctx, { idempotencyKey, signal }) {
  const { url, tag } = ctx.run.input;
  note(ctx, "act", "asked", { idempotencyKey });
  const answer = await fetch(`${url}/ask/${tag}`, { signal });
  return (await answer.json()).said;
}

const declare = (ctx) => {
  const { class: effectClass, timeoutMs = 5_000, keyRetentionMs, businessKey, request, reconcile } = ctx.run.input;
  return {
    class: effectClass, destination: "receiver", timeoutMs,
    ...(keyRetentionMs === undefined ? {} : { keyRetentionMs }), ...(businessKey === undefined ? {} : { businessKey }),
    ...(request === undefined ? {} : { request }), ...(reconcile === true ? { reconcile: (call) => ask(ctx, call) } : {}),
  };
};

const failures = { declined_for_now: { class: "TRANSIENT", message: "Declined for now", remediation: "Wait" } };

const act = node("act", async (ctx) => {
  const { url, deadUrl, tag, method, swallow, holdMs = 0 } = ctx.run.input;
  const answer = await ctx.effect("act", declare(ctx), (call) => post(ctx, call, { url: deadUrl !== undefined && call.launch === 1 ? deadUrl : url, tag, method }))
    .catch((error) => {
      if (swallow === true) return { swallowed: true };
      throw error;
    });
  if (ctx.attempt === 0) await sleep(holdMs, undefined, { signal: ctx.signal });
  return answer;
}, { retry: { maxRetries: 3, baseMs: 100 } });

const effect = defineWorkflow({ id: "proof-effect", version: "1", failures, nodes: { act } });

const impatient = defineWorkflow({ id: "proof-impatient", version: "1", failures, nodes: { act: { ...act, timeoutMs: 400, retry: { maxRetries: 0 } } } });

const once = defineWorkflow({ id: "proof-once-retried", version: "1", failures, nodes: { act: { ...act, retry: { maxRetries: 1, baseMs: 50 } } } });

/** Its back-off is long enough to free the slot. */
const patient = defineWorkflow({ id: "proof-effect-patient", version: "1", failures, nodes: { act: { ...act, retry: { maxRetries: 3, baseMs: 800 } } } });

/** Acts at the end of its time: the launch may be answered after it. */
const lateLaunch = defineWorkflow({
  id: "proof-late-launch", version: "1",
  nodes: {
    act: node("act", async (ctx) => {
      if (ctx.attempt === 0) {
        note(ctx, "act", "acts");
        ctx.signal.addEventListener("abort", () => note(ctx, "act", "aborted"));
        await sleep(300);
      }
      return ctx.effect("act", declare(ctx), (call) => post(ctx, call, ctx.run.input));
    }, { timeoutMs: 450, retry: { maxRetries: 1, baseMs: 300 } }),
  },
});

const http = defineWorkflow({
  id: "proof-http", version: "1",
  nodes: {
    act: {
      type: "http.request", retry: { maxRetries: 2, baseMs: 100 },
      input: (_done, { input }) => ({ url: `${input.url}/${input.tag}`, body: { businessKey: input.tag }, class: input.class, timeoutMs: input.timeoutMs ?? 5_000 }),
    },
  },
});

const twice = defineWorkflow({
  id: "proof-twice", version: "1",
  nodes: {
    act: node("act", async (ctx) => {
      await ctx.effect("act", declare(ctx), (call) => post(ctx, call, ctx.run.input));
      await ctx.effect("act", declare(ctx), (call) => post(ctx, call, ctx.run.input));
    }),
  },
});

const inside = defineWorkflow({
  id: "proof-inside", version: "1",
  nodes: {
    act: node("act", (ctx) => ctx.effect("outer", declare(ctx), () => ctx.effect("inner", declare(ctx), (call) => post(ctx, call, ctx.run.input)))),
  },
});

const odd = {
  zero: () => ({ text: "a\u0000b", ["na\u0000me"]: 1 }),
  cyclic: () => {
    const one = {};
    one.self = one;
    return one;
  },
  long: () => "x".repeat(300_000),
};
const answers = defineWorkflow({
  id: "proof-answers", version: "1",
  nodes: {
    act: node("act", (ctx) => ctx.effect("act", declare(ctx), async (call) => {
      await post(ctx, call, ctx.run.input);
      return odd[ctx.run.input.what]();
    })),
  },
});

/** Returns while its request is on the wire. */
const careless = defineWorkflow({
  id: "proof-careless", version: "1",
  nodes: {
    act: node("act", async (ctx) => {
      void ctx.effect("act", declare(ctx), (call) => post(ctx, call, ctx.run.input));
      await sleep(300);
      return { careless: true };
    }),
  },
});

/** An optional act whose outcome nobody knows, beside one that is still on its way. */
const beside = defineWorkflow({
  id: "proof-beside", version: "1",
  nodes: {
    lost: node("lost", (ctx) => ctx.effect("lost", { destination: "receiver" }, (call) => post(ctx, call, { url: ctx.run.input.url, tag: ctx.run.input.lost })), { optional: true }),
    other: node("other", (ctx) => ctx.effect("other", { destination: "receiver" }, (call) => post(ctx, call, { url: ctx.run.input.url, tag: ctx.run.input.other }))),
  },
});

const quick = defineWorkflow({ id: "proof-quick", version: "1", nodes: { only: node("only", () => ({ quick: true })) } });

export const workflows = [effect, impatient, once, patient, lateLaunch, http, twice, inside, answers, careless, beside, quick];
