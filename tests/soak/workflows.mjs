// The workflows of the soak. Code nodes write each execution that begins into a ledger of their own, so that a double
// execution shows even where the stored state would hide it.
import { appendFileSync } from "node:fs";
import { defineWorkflow } from "@mainstay/sdk";

const began = (nodeId, ctx) => {
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${ctx.run.id} ${nodeId} ${ctx.attempt} ${ctx.fence}\n`);
};
const step = (nodeId) => ({ run: (ctx) => { began(nodeId, ctx); return { nodeId }; } });
const after = (nodeId, before) => ({ after: [before], ...step(nodeId) });

const quick = defineWorkflow({ id: "soak-quick", version: "1", nodes: { only: step("only") } });
const five = defineWorkflow({
  id: "soak-five", version: "1",
  nodes: { s1: step("s1"), s2: after("s2", "s1"), s3: after("s3", "s2"), s4: after("s4", "s3"), s5: after("s5", "s4") },
});
const order = defineWorkflow({
  id: "soak-order", version: "1",
  nodes: {
    price: step("price"),
    charge: {
      type: "http.request", after: ["price"], retry: { maxRetries: 8, baseMs: 200 },
      config: {
        url: { $input: "url" }, method: "POST", class: "idempotent_write", businessKey: { $input: "businessKey" }, timeoutMs: 5_000,
        body: { businessKey: { $input: "businessKey" } },
      },
    },
    last: after("last", "charge"),
  },
});
const timer = defineWorkflow({
  id: "soak-timer", version: "1",
  nodes: { wait: { type: "core.delay", config: { delayMs: { $input: "delayMs" } } }, last: after("last", "wait") },
});
/** Fails twice, then goes on. */
const flaky = defineWorkflow({
  id: "soak-flaky", version: "1",
  nodes: { only: { retry: { maxRetries: 4, baseMs: 100 }, run: (ctx) => {
    began("only", ctx);
    if (ctx.attempt < 2) throw ctx.failure("platform.dependency_unavailable");
    return {};
  } } },
});
const doomed = defineWorkflow({
  id: "soak-doomed", version: "1",
  nodes: { only: { run: (ctx) => {
    began("only", ctx);
    throw ctx.failure("platform.business_terminal");
  } } },
});

export const workflows = [quick, five, order, timer, flaky, doomed];
