import { setTimeout as sleep } from "node:timers/promises";
import { isFailureClass } from "@mainstay/domain";
import { delayRule, isDelayMs, NotApplied, WorkflowFailure, type NodeContext, type NodeRun } from "@mainstay/sdk";
import type { Execution, HeldRun } from "../runs/held-run.js";
import { performEffect } from "../effects/perform-effect.js";
import { Suspended } from "../effects/interrupts.js";
import { requestHttp } from "./request-http.js";
import type { NodeParts, TypeCall } from "./node-parts.js";

/** Waits up to this long are held in the process; longer ones free the slot. Milliseconds. */
export const HELD_WAIT_MS = 250;

const readDelay = (value: unknown): number => {
  if (!isDelayMs(value)) throw new WorkflowFailure("platform.schema_invalid", { attributes: { field: "delayMs", rule: delayRule } });
  return value;
};

/** The built-in types, by their type id. */
export const nodeTypes: ReadonlyMap<string, (call: TypeCall) => unknown> = new Map<string, (call: TypeCall) => unknown>([
  ["core.noop", () => ({})],
  ["core.identity", ({ previous }) => previous],
  ["core.delay", async ({ config, execution, continued }) => {
    const delayMs = readDelay(config["delayMs"]);
    if (continued) return { delayMs }; // its due time has come: the claim looked
    if (delayMs > HELD_WAIT_MS) throw new Suspended({ waitingOn: "timer", dueMs: delayMs, asks: 0 });
    await sleep(delayMs, undefined, { signal: execution.abort.signal });
    return { delayMs };
  }],
  ["core.fail", ({ config, execution }) => {
    const succeedAt = config["succeedAt"];
    if (typeof succeedAt === "number" && execution.attempt + 1 >= succeedAt) return { attempt: execution.attempt };
    const code = typeof config["code"] === "string" ? config["code"] : codeOfClass(config["class"]);
    throw new WorkflowFailure(code);
  }],
  ["http.request", requestHttp],
  ["mainstay.crash", () => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => undefined);
  }],
]);

function codeOfClass(name: unknown): string {
  const byClass = {
    TRANSIENT: "platform.dependency_unavailable", UNKNOWN: "platform.effect_outcome_unconfirmed", POISONED_INPUT: "platform.schema_invalid",
    POLICY_DENIED: "platform.approval_required", CREDENTIAL_EXPIRED: "platform.credential_expired", PREFLIGHT_FAILED: "platform.file_missing",
    DEFECT: "platform.handler_exception", NON_RETRYABLE: "platform.business_terminal",
  } as const;
  return typeof name === "string" && isFailureClass(name) ? byClass[name] : "platform.business_terminal";
}

/** Runs a code node with its context. */
export function runCode(
  parts: NodeParts,
  { run, execution, nodeRun, run_, input }: { run: HeldRun; execution: Execution; nodeRun: NodeRun; run_: (context: NodeContext) => unknown; input: unknown },
): unknown {
  const log = (level: "debug" | "info" | "warn" | "error") => (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
    parts.log(level, "node.log", { runId: run.wireId, nodeId: execution.nodeId, attempt: execution.attempt, text: message, fields });
  };
  const context: NodeContext = {
    input, run: nodeRun, attempt: execution.attempt, fence: run.fence, signal: execution.abort.signal,
    effect: (key, options, launch) => {
      const performed = performEffect(parts.effects, { run, execution, key, options, input, launch });
      performed.catch(() => undefined); // code that does not wait for it must not end the process
      return performed;
    },
    failure: (code, detail) => new WorkflowFailure(code, detail),
    notApplied: (code, options) => new NotApplied(code, options),
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    spend: (units) => {
      if (!(Number.isFinite(units) && units >= 0)) throw new RangeError("spend takes a number of units, at least 0");
    },
  };
  return run_(context);
}
