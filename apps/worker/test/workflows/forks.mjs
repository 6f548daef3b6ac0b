// Runs that are forked: plain nodes around an act on the outside world.
import { defineWorkflow } from "@mainstay/sdk";
import { node, note } from "./ledger.mjs";

const failures = { declined: { class: "NON_RETRYABLE", message: "Declined", remediation: "Ask the payer" } };

async function post(ctx, { idempotencyKey, signal }) {
  const { url, tag } = ctx.run.input;
  note(ctx, "act", "launched", { key: idempotencyKey });
  const answer = await fetch(`${url}/${tag}`, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ businessKey: idempotencyKey }), signal });
  return answer.json();
}

/** `at` names the node that fails while the input says `broken`. */
const chain = defineWorkflow({
  id: "proof-fork", version: "1", failures,
  nodes: {
    first: node("first", ({ run }) => ({ amount: run.input.amount ?? 1 })),
    act: node("act", (ctx) => ctx.effect("act", { class: "idempotent_write", destination: "receiver" }, (call) => post(ctx, call)), { after: ["first"] }),
    check: node("check", (ctx) => {
      if (ctx.run.input.broken === true) throw ctx.failure("app.declined");
      return { receipt: ctx.input };
    }, { after: ["act"], input: (done) => done.act }),
    last: node("last", ({ input }) => input, { after: ["check"], input: (done) => done.check }),
  },
});

/** Says something else in each execution, without an effect. */
const fickle = defineWorkflow({ id: "proof-fickle", version: "1", nodes: { only: node("only", ({ fence, run }) => ({ said: `${run.id} ${fence}` })) } });

/** Acts in a replay alone: its source, run with `quiet`, recorded no outcome for the node. */
const refused = defineWorkflow({
  id: "proof-refused", version: "1", failures,
  nodes: {
    act: node("act", (ctx) => ctx.effect("act", { class: "idempotent_write", destination: "receiver" }, async (call) => {
      await post(ctx, call);
      throw ctx.notApplied("app.declined");
    })),
  },
});

export const workflows = [chain, fickle, refused];
