// Runs that outlast something: their worker, its drain, their own deadline, the patience of who asked for them.
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";
import { block, node, note } from "./ledger.mjs";

async function post(ctx, { idempotencyKey, signal, launch }) {
  const { url, tag } = ctx.run.input;
  note(ctx, "act", "launched", { launch });
  const answer = await fetch(`${url}/${tag}`, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey: tag }), signal });
  return answer.json();
}

/** Its first `times` executions hold for `holdMs`, heeding the signal unless they are deaf; the later ones are quick. */
const hold = defineWorkflow({
  id: "proof-hold", version: "1",
  nodes: {
    hold: node("hold", async (ctx) => {
      const { holdMs, times = 1, deaf = false } = ctx.run.input;
      ctx.signal.addEventListener("abort", () => note(ctx, "hold", "aborted"));
      if (ctx.attempt < times) await sleep(holdMs, undefined, deaf ? {} : { signal: ctx.signal });
      return { attempt: ctx.attempt };
    }),
    after: node("after", ({ input }) => input, { after: ["hold"], input: (done) => done.hold }),
  },
});

const deadline = defineWorkflow({
  id: "proof-deadline", version: "1", runTimeoutMs: 1_200,
  nodes: { hold: node("hold", async (ctx) => {
    ctx.signal.addEventListener("abort", () => note(ctx, "hold", "aborted"));
    await sleep(60_000, undefined, { signal: ctx.signal });
  }) },
});

const effect = defineWorkflow({
  id: "proof-act", version: "1",
  nodes: {
    act: node("act", (ctx) => ctx.effect("act", { class: ctx.run.input.class, destination: "receiver", timeoutMs: ctx.run.input.timeoutMs ?? 5_000 }, (call) => post(ctx, call)), { retry: { maxRetries: 2, baseMs: 100 } }),
    after: node("after", () => ({ done: true }), { after: ["act"] }),
  },
});

/** Ends some time after it began: a cancel meets it before, within or after. The act comes last. */
const race = defineWorkflow({
  id: "proof-race", version: "1",
  nodes: {
    first: node("first", (ctx) => sleep(ctx.run.input.firstMs, undefined, { signal: ctx.signal })),
    act: node("act", (ctx) => ctx.effect("act", { class: "idempotent_write", destination: "receiver" }, (call) => post(ctx, call)), { after: ["first"] }),
  },
});

/** Keeps its worker's event loop for `forMs` in its first execution, an act on each side of it. */
const act = (key) => node(key, (ctx) => ctx.effect(key, { class: "idempotent_write", destination: "receiver" }, async ({ idempotencyKey, signal }) => {
  const answer = await fetch(ctx.run.input.url, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey: `${ctx.run.id} ${key}` }), signal });
  return { status: answer.status };
}));
const burn = defineWorkflow({
  id: "proof-burn", version: "1",
  nodes: {
    before: act("before"),
    burn: node("burn", ({ run, attempt }) => {
      if (attempt === 0) block(run.input.forMs);
      return { attempt };
    }, { after: ["before"] }),
    later: { ...act("later"), after: ["burn"] },
  },
});

/** The event loop stands still between the launch and its reply, longer than the send grace. */
const late = defineWorkflow({
  id: "proof-late", version: "1",
  nodes: {
    act: node("act", async (ctx) => {
      const acted = ctx.effect("act", { destination: "receiver" }, (call) => post(ctx, call));
      const stall = (times) => {
        if (times === 0) return;
        block(250);
        setTimeout(stall, 0, times - 1);
      };
      setImmediate(setImmediate, stall, 4); // the launch has been sent by then, and is not answered yet
      return acted;
    }),
  },
});

const quick = defineWorkflow({ id: "proof-quick", version: "1", nodes: { only: node("only", () => ({ quick: true })) } });

export const workflows = [hold, deadline, effect, race, burn, late, quick];
