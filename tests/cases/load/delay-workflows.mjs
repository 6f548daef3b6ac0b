// The workflows of the case about delays: a timer that the input sets, and a retry whose wait the failure asks for. Code
// nodes write each execution that begins into a file.
import { appendFileSync } from "node:fs";
import { defineWorkflow } from "@mainstay/sdk";

function began(nodeId, ctx) {
  const line = { runId: ctx.run.id, nodeId, fence: ctx.fence, attempt: ctx.attempt, at: Date.now(), pid: process.pid };
  appendFileSync(process.env.MAINSTAY_TEST_LEDGER, `${JSON.stringify(line)}\n`);
}

const timer = defineWorkflow({
  id: "delay-timer", version: "1",
  nodes: {
    wait: { type: "core.delay", config: { delayMs: { $input: "delayMs" } } },
    due: { after: ["wait"], run: (ctx) => { began("due", ctx); return {}; } },
  },
});

/** What a destination may ask for; JSON knows no NaN and no Infinity. */
const asked = { "NaN": Number.NaN, "Infinity": Infinity, "-Infinity": -Infinity };

/** Fails once and asks to be left alone for `askMs`, by a failure or, with `header`, by an error that bears Retry-After. */
const retry = defineWorkflow({
  id: "delay-retry", version: "1",
  failures: { not_yet: { class: "TRANSIENT", message: "Not yet", remediation: "Wait" } },
  nodes: {
    again: {
      retry: { maxRetries: 1, baseMs: 1 },
      run: (ctx) => {
        began("again", ctx);
        const { askMs, header } = ctx.run.input;
        if (ctx.attempt > 0) return {};
        if (header !== undefined) throw Object.assign(new Error("busy"), { code: "ECONNRESET", headers: { "retry-after": header } });
        throw ctx.failure("app.not_yet", { retryAfterMs: typeof askMs === "string" && askMs in asked ? asked[askMs] : askMs });
      },
    },
  },
});

export const workflows = [timer, retry];
