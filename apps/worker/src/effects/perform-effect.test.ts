import { expect, test } from "vitest";
import type { Execution, HeldRun } from "../runs/held-run.js";
import { answerFromRecord } from "./answer-from-record.js";
import type { EffectParts } from "./effect-parts.js";
import { FromRecord } from "./interrupts.js";
import { performEffect } from "./perform-effect.js";

const outcome = (type: string, payload: Record<string, unknown>) => ({ seq: 3, eventId: "e", type, node: "act", payload });
const replayOf = (...outcomes: ReturnType<typeof outcome>[]): HeldRun =>
  ({ id: "01", claimed: { workspace: "acme", lineage: "01", workflowId: "w" }, outputBytes: 0, workflow: { document: { failures: {} } },
    recorded: { ofNode: new Map(outcomes.map((one) => [one.node, one])) } }) as unknown as HeldRun;

test("an effect in a replay fires nothing and launches nothing, and ends the execution whatever the code does then", async () => {
  const touched: string[] = [];
  const parts = {
    launch: () => { touched.push("ledger"); return Promise.reject(new Error("the ledger was asked")); },
    life: { validUntil: () => Number.POSITIVE_INFINITY }, effectMarginMs: 0, sendGraceMs: 1_000,
  } as unknown as EffectParts;
  const execution: Execution = { nodeId: "act", attempt: 0, abort: new AbortController(), over: false, openUnsafe: new Map(), usedKeys: new Set() };
  const performed = performEffect(parts, {
    run: replayOf(), execution, key: "act", options: { destination: "receiver" }, input: null, launch: () => { touched.push("outside"); },
  });
  await expect(performed).rejects.toBeInstanceOf(FromRecord);
  expect(touched).toEqual([]);
  expect(execution.interrupt).toBeInstanceOf(FromRecord);
  expect(execution.abort.signal.aborted).toBe(true);
});

test("its node ends as its source recorded: the output, the failure for good, or replay_source_missing", () => {
  expect(answerFromRecord(replayOf(outcome("node.completed", { outputs: { receipt: 1 } })), "act")).toMatchObject({ kind: "completed", output: { receipt: 1 } });
  const failed = outcome("node.failed", { error: { details: { code: "platform.rate_limited", disposition: "retry_exhausted" } } });
  expect(answerFromRecord(replayOf(failed), "act")).toMatchObject({ kind: "failed", final: "retry_exhausted", failure: { code: "platform.rate_limited", class: "TRANSIENT" } });
  expect(answerFromRecord(replayOf(), "act")).toMatchObject({ kind: "failed", final: "handler_error", failure: { code: "platform.replay_source_missing" } });
});
