import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { EffectLaunch } from "@mainstay/database";
import { WorkflowFailure } from "@mainstay/sdk";
import { declareEffect } from "./declare-effect.js";
import type { EffectParts, EffectRequest } from "./effect-parts.js";
import { holdLost } from "./hold-lost.js";
import { FromRecord, HoldLost, LateLaunch, OutcomeUnknown, Suspended } from "./interrupts.js";
import { isOver } from "./is-over.js";
import { meetEffect } from "./meet-effect.js";
import { refuseOptions } from "./refuse-options.js";
import { sendEffect } from "./send-effect.js";
import { settleEffect } from "./settle-effect.js";

const inside = new AsyncLocalStorage<string>();
/** A launch that came too late to send settles `absent` and is made again so often. */
const LATE_LAUNCHES = 5;

/**
 * Performs one act on the outside world through the ledger: the launch is committed before the request leaves, the
 * settlement is evidence, a recorded answer is reused for the same request only. One launch is one request.
 *
 * Throws `Suspended` when the outcome of an earlier launch is to be waited for, `OutcomeUnknown` when nobody can tell,
 * `FromRecord` in a replay before anything is launched, `HoldLost` when a peer holds the run, else what the launch threw.
 */
export async function performEffect<Result>(parts: EffectParts, request: EffectRequest<Result>): Promise<Result> {
  try {
    if (request.run.recorded !== undefined) throw new FromRecord(`effect ${request.key}: a replay fires nothing`);
    return await perform(parts, request);
  } catch (thrown) {
    // code that catches it must not go on as if the effect had failed
    if (thrown instanceof Suspended || thrown instanceof OutcomeUnknown || thrown instanceof HoldLost) request.execution.interrupt ??= thrown;
    if (thrown instanceof FromRecord) {
      request.execution.interrupt ??= thrown;
      request.execution.abort.abort(thrown); // what the code would do next is recorded too
    }
    throw thrown;
  }
}

async function perform<Result>(parts: EffectParts, request: EffectRequest<Result>): Promise<Result> {
  const { execution, key } = request;
  if (inside.getStore() !== undefined) throw new WorkflowFailure("platform.contract_mismatch", { attributes: { rule: "no effect inside an effect" }, operation: key });
  if (execution.usedKeys.has(key)) throw new WorkflowFailure("platform.contract_mismatch", { attributes: { rule: "a key is used once in a node execution" }, operation: key });
  refuseOptions(key, request.options);
  execution.usedKeys.add(key);
  const declared = declareEffect(request, parts.sendGraceMs);
  for (let go = 0; go < LATE_LAUNCHES; go++) {
    await untilMayStart(parts, request);
    const next: EffectLaunch = { ...declared, launchId: randomUUID() };
    const answer = await parts.launch(next);
    if (answer.kind === "fenced") throw holdLost(parts, request);
    if (answer.kind === "recorded" && isOver(request)) throw new HoldLost("the execution is over");
    const launched = answer.kind === "launched" ? answer : await meetEffect(parts, request, { next, recorded: answer.effect });
    if ("reuse" in launched) return launched.reuse as Result;
    if (launched.sentAt === undefined) continue; // somebody moved first: read the ledger again
    const mine = { effectId: launched.effectId, launchNo: launched.launchNo, runId: request.run.id };
    const over = isOver(request);
    if (over || !inTime(parts, launched)) {
      await settleEffect(parts, request, { ...mine, outcome: "absent", via: "unsent" });
      if (over) throw new HoldLost("the execution is over");
      continue;
    }
    try {
      return await inside.run(key, () => sendEffect(parts, request, { mine, identity: next.identity, mayLeave: () => inTime(parts, launched) }));
    } catch (thrown) {
      if (!(thrown instanceof LateLaunch)) throw thrown;
      await settleEffect(parts, request, { ...mine, outcome: "absent", via: "unsent" });
      execution.openUnsafe.delete(mine.effectId);
    }
  }
  throw new WorkflowFailure("platform.timeout", { operation: key, attributes: { rule: "the request could not leave within the send grace" } });
}

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

function inTime({ sendGraceMs }: EffectParts, { sentAt, sentAtWall }: { sentAt: number; sentAtWall: number }): boolean {
  return performance.now() - sentAt <= sendGraceMs && Math.abs(Date.now() - sentAtWall) <= sendGraceMs;
}
