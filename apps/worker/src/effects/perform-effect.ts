import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { MAX_ASKS, askDelayMs, decideEffect, type EffectClass } from "@mainstay/domain";
import { noteAsk, relaunchEffect, retryWhileAway, type EffectLaunch, type GroupCommit, type LaunchAnswer, type Queryable, type RecordedRow, type Settlement, type SettleAnswer } from "@mainstay/database";
import { NotApplied, WorkflowFailure, type EffectCall, type EffectOptions } from "@mainstay/sdk";
import type { Execution, HeldRun } from "../runs/held-run.js";
import type { Life } from "../life.js";
import { digestOf, sha256 } from "./digest.js";
import { HoldLost, LateLaunch, OutcomeUnknown, Suspended } from "./interrupts.js";
import { inProgress } from "./in-progress.js";
import { isDefiniteRefusal, saysInProgress } from "./is-definite-refusal.js";
import { recordable } from "../nodes/recordable.js";
import { ask } from "./ask-reconciler.js";

export type EffectParts = {
  db: Queryable;
  life: Life;
  launch: GroupCommit<EffectLaunch, LaunchAnswer>;
  settle: GroupCommit<Settlement, SettleAnswer>;
  effectMarginMs: number;
  sendGraceMs: number;
  onSettled: (outcome: "confirmed" | "absent", effectClass: EffectClass) => void;
  onFenced: (op: string) => void;
};

export type EffectRequest<Result> = {
  run: HeldRun; execution: Execution; key: string; options: EffectOptions<Result>; input: unknown;
  /** `mayLeave` says right before the first byte whether the send grace still holds. */
  launch: (call: EffectCall, mayLeave: () => boolean) => Result | Promise<Result>;
};

const inside = new AsyncLocalStorage<string>();
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETENTION_MS = 24 * 3600 * 1000;
/** How long a run waits before it looks again for the outcome of another run's launch; a settlement wakes it. */
const LOOK_AGAIN_MS = 1_000;
/** An answer, as recorded. Bytes. */
const ANSWER_MAX_BYTES = 256 * 1024;
/** A launch that came too late to send settles `absent` and is made again so often. */
const LATE_LAUNCHES = 5;

/**
 * Performs one act on the outside world through the ledger: the launch is committed before the request leaves, the
 * settlement is evidence, a recorded answer is reused for the same request only. One launch is one request.
 *
 * Throws `Suspended` when the outcome of an earlier launch is to be waited for, `OutcomeUnknown` when nobody can tell,
 * `HoldLost` when a peer holds the run, else what the launch threw.
 */
export async function performEffect<Result>(parts: EffectParts, request: EffectRequest<Result>): Promise<Result> {
  try {
    return await perform(parts, request);
  } catch (thrown) {
    // code that catches it must not go on as if the effect had failed
    if (thrown instanceof Suspended || thrown instanceof OutcomeUnknown || thrown instanceof HoldLost) request.execution.interrupt ??= thrown;
    throw thrown;
  }
}

async function perform<Result>(parts: EffectParts, request: EffectRequest<Result>): Promise<Result> {
  const { execution, key, options } = request;
  if (inside.getStore() !== undefined) throw new WorkflowFailure("platform.contract_mismatch", { attributes: { rule: "no effect inside an effect" }, operation: key });
  if (execution.usedKeys.has(key)) throw new WorkflowFailure("platform.contract_mismatch", { attributes: { rule: "a key is used once in a node execution" }, operation: key });
  execution.usedKeys.add(key);
  const declared = declare(request, parts.sendGraceMs);
  for (let go = 0; go < LATE_LAUNCHES; go++) {
    await untilMayStart(parts, request);
    const next: EffectLaunch = { ...declared, launchId: randomUUID() };
    const answer = await parts.launch(next);
    if (answer.kind === "fenced") throw lost(parts, request);
    const launched = answer.kind === "launched" ? answer : await meet(parts, request, { next, recorded: answer.effect });
    if ("reuse" in launched) return launched.reuse as Result;
    if (launched.sentAt === undefined) continue; // somebody moved first: read the ledger again
    const mine = { effectId: launched.effectId, launchNo: launched.launchNo, runId: request.run.id };
    const over = isOver(request);
    if (over || !inTime(parts, launched)) {
      await settle(parts, request, { ...mine, outcome: "absent", via: "unsent" });
      if (over) throw new HoldLost("the execution is over");
      continue;
    }
    try {
      return await inside.run(key, () => send(parts, request, { mine, identity: next.identity, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, mayLeave: () => inTime(parts, launched) }));
    } catch (thrown) {
      if (!(thrown instanceof LateLaunch)) throw thrown;
      await settle(parts, request, { ...mine, outcome: "absent", via: "unsent" });
      execution.openUnsafe.delete(mine.effectId);
    }
  }
  throw new WorkflowFailure("platform.timeout", { operation: key, attributes: { rule: "the request could not leave within the send grace" } });
}

function declare<Result>({ run, execution, key, options, input }: EffectRequest<Result>, sendGraceMs: number): Omit<EffectLaunch, "launchId"> {
  const { claimed } = run;
  const effectClass = options.class ?? "non_idempotent_write";
  const identity = options.businessKey === undefined
    ? sha256(JSON.stringify(["activity", claimed.workspace, claimed.lineage, execution.nodeId, key]))
    : sha256(JSON.stringify(["business", claimed.workspace, claimed.workflowId, execution.nodeId, options.businessKey]));
  const { request, reconcile: _reconcile, ...facts } = options;
  return {
    effectId: randomUUID(), runId: run.id, workspace: claimed.workspace, owner: run.owner, fence: run.fence, identity,
    keying: options.businessKey === undefined ? "activity-recipe" : "business-identity", nodeId: execution.nodeId, key,
    class: effectClass, destination: options.destination, requestDigest: digestOf(request ?? { options: facts, input }),
    attempt: execution.attempt, quietMs: sendGraceMs + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS) + (options.providerMaxMs ?? 0),
    ...(options.businessKey === undefined ? {} : { businessKey: options.businessKey }),
    ...(effectClass === "idempotent_write" ? { keyRetentionMs: options.keyRetentionMs ?? DEFAULT_RETENTION_MS } : {}),
  };
}

/** An outage of the database is outlasted while the run is held: the same launch may be written again. */
const whileHeld = <Result, Answer>(request: EffectRequest<Result>, act: () => Promise<Answer>): Promise<Answer> =>
  retryWhileAway(act, () => { if (isOver(request)) throw new HoldLost("the execution is over"); });

/**
 * No effect starts for a hold that is gone, or within the margin of the end of this incarnation's validity: it waits for
 * the next heartbeat, or for the news that the incarnation has lapsed.
 */
async function untilMayStart<Result>(parts: EffectParts, request: EffectRequest<Result>): Promise<void> {
  for (;;) {
    if (isOver(request)) throw new HoldLost("the execution is over");
    if (performance.now() <= parts.life.validUntil() - parts.effectMarginMs) return;
    await sleep(25);
  }
}

/** Asked anew after every await: what a cancel, a time-out or a peer has ended sends nothing more. */
const isOver = <Result>({ run, execution }: EffectRequest<Result>): boolean => run.dropped || execution.over || execution.abort.signal.aborted;

function inTime({ sendGraceMs }: EffectParts, { sentAt, sentAtWall }: { sentAt: number; sentAtWall: number }): boolean {
  return performance.now() - sentAt <= sendGraceMs && Math.abs(Date.now() - sentAtWall) <= sendGraceMs;
}

type Launched = { effectId: string; launchNo: number; sentAt: number; sentAtWall: number } | { effectId: string; launchNo: number; sentAt: undefined } | { reuse: unknown };

/** The identity stands in the ledger: reuse, relaunch, wait, ask or give up. */
async function meet<Result>(parts: EffectParts, request: EffectRequest<Result>, { next, recorded }: { next: EffectLaunch; recorded: RecordedRow }): Promise<Launched> {
  const { options, execution } = request;
  const { effectId, launchNo } = recorded;
  const again = async (state: string): Promise<Launched> => {
    const answer = await whileHeld(request, () => relaunchEffect(parts.db, next, { effectId, launchNo, state, ownLaunch: recorded.ownLaunch }));
    if (answer.kind === "fenced") throw lost(parts, request);
    return answer.kind === "launched" ? { effectId, ...answer } : { effectId, launchNo, sentAt: undefined };
  };
  const decision = decideEffect(recorded, { canAsk: options.reconcile !== undefined });
  switch (decision.do) {
    case "reuse":
      return { reuse: recorded.answer };
    case "conflict":
      throw new WorkflowFailure("platform.conflicting_duplicate", { operation: request.key });
    case "relaunch":
      return again(recorded.state);
    case "wait":
      throw new Suspended({ waitingOn: "effect", dueMs: LOOK_AGAIN_MS, asks: 0, effectId });
    case "wait_quiet":
      throw new Suspended({ waitingOn: "reconciliation", dueMs: recorded.quietInMs + 1, asks: recorded.asks, effectId });
    case "give_up":
      throw new OutcomeUnknown([effectId]);
    case "reconcile": {
      const said = await ask(options, { effectId, idempotencyKey: next.identity, signal: execution.abort.signal });
      if (said?.happened === true) {
        const result = await confirm(parts, request, { effectId, launchNo, runId: request.run.id, via: "reconciler", answer: said.result });
        return { reuse: result };
      }
      if (said !== undefined && said.safe !== false) {
        await settle(parts, request, { effectId, launchNo, runId: request.run.id, outcome: "absent", via: "reconciler" });
        // a launch that was itself a repeat came to nothing again: that is a failed attempt, or it would go on for ever
        if (launchNo > 1) throw new WorkflowFailure("platform.dependency_unavailable", { operation: request.key, attributes: { rule: "the effect did not happen" } });
        return again("absent");
      }
      const asks = await whileHeld(request, () => noteAsk(parts.db, { effectId, launchNo }));
      if (said !== undefined || (asks ?? 0) >= MAX_ASKS) throw new OutcomeUnknown([effectId]);
      throw new Suspended({ waitingOn: "reconciliation", dueMs: askDelayMs((asks ?? 1) - 1), asks: asks ?? 0, effectId });
    }
  }
}

async function send<Result>(
  parts: EffectParts, request: EffectRequest<Result>,
  { mine, identity, timeoutMs, mayLeave }: { mine: Pick<Settlement, "effectId" | "launchNo" | "runId">; identity: string; timeoutMs: number; mayLeave: () => boolean },
): Promise<Result> {
  const { execution, options, launch } = request;
  const unsafe = (options.class ?? "non_idempotent_write") === "non_idempotent_write";
  const quietMs = parts.sendGraceMs + timeoutMs + (options.providerMaxMs ?? 0);
  if (unsafe) execution.openUnsafe.set(mine.effectId, { canAsk: options.reconcile !== undefined, quietAt: performance.now() + quietMs });
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([execution.abort.signal, timeout]);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => { reject(timeout.aborted ? new WorkflowFailure("platform.timeout", { operation: request.key }) : new HoldLost("the execution was cut short")); }, { once: true });
  });
  late.catch(() => undefined);
  try {
    const acted = (async () => launch({ effectId: mine.effectId, idempotencyKey: identity, signal, launch: mine.launchNo }, mayLeave))();
    // what arrives after the time-out is still evidence
    acted.then(
      (answer) => { if (signal.aborted) void confirm(parts, request, { ...mine, via: "answer", answer }).catch(() => undefined); },
      (thrown: unknown) => { if (signal.aborted && refuses(thrown)) void settle(parts, request, { ...mine, outcome: "absent", via: "refusal" }).catch(() => undefined); },
    );
    const answer = await Promise.race([acted, late]);
    return await confirm(parts, request, { ...mine, via: "answer", answer });
  } catch (thrown) {
    if (thrown instanceof LateLaunch) throw thrown;
    if (refuses(thrown)) {
      await settle(parts, request, { ...mine, outcome: "absent", via: "refusal" });
      execution.openUnsafe.delete(mine.effectId);
      throw thrown;
    }
    if (options.class === "idempotent_write" && saysInProgress(thrown)) throw inProgress({ effectId: mine.effectId, launch: mine.launchNo });
    if (thrown instanceof HoldLost || !execution.openUnsafe.has(mine.effectId) || options.reconcile === undefined) throw thrown;
    throw new Suspended({ waitingOn: "reconciliation", dueMs: quietMs, asks: 0, effectId: mine.effectId }); // its reconciler is asked after the quiet instant
  }
}

const refuses = (thrown: unknown): boolean => NotApplied.is(thrown) || isDefiniteRefusal(thrown);

/**
 * Settles as confirmed and gives the answer as it is recorded. An answer that cannot be recorded leaves the effect
 * confirmed without one and throws: it did happen, and nobody is to send it again.
 */
async function confirm<Result>(
  parts: EffectParts, request: EffectRequest<Result>, { answer, ...evidence }: Pick<Settlement, "effectId" | "launchNo" | "runId" | "via" | "answer">,
): Promise<Result> {
  const read = (): { recorded: unknown } | { refused: unknown } => {
    try {
      return { recorded: recordable(answer, ANSWER_MAX_BYTES) };
    } catch (refused) {
      return { refused };
    }
  };
  const seen = read();
  await settle(parts, request, { ...evidence, outcome: "confirmed", ...("recorded" in seen ? { answer: seen.recorded } : {}) });
  request.execution.openUnsafe.delete(evidence.effectId);
  if ("refused" in seen) throw seen.refused;
  return seen.recorded as Result;
}

async function settle<Result>(parts: EffectParts, { options }: EffectRequest<Result>, settlement: Settlement): Promise<void> {
  await parts.settle(settlement);
  parts.onSettled(settlement.outcome, options.class ?? "non_idempotent_write");
}

function lost<Result>(parts: EffectParts, { key }: EffectRequest<Result>): HoldLost {
  parts.onFenced("effect");
  return new HoldLost(`effect ${key}: a peer holds the run`);
}
