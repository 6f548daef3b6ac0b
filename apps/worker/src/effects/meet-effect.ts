import { MAX_ASKS, askDelayMs, decideEffect } from "@mainstay/domain";
import { noteAsk, relaunchEffect, retryWhileAway, type EffectLaunch, type RecordedRow } from "@mainstay/database";
import { WorkflowFailure } from "@mainstay/sdk";
import { ask } from "./ask-reconciler.js";
import { confirmEffect } from "./confirm-effect.js";
import type { EffectParts, EffectRequest } from "./effect-parts.js";
import { holdLost } from "./hold-lost.js";
import { HoldLost, OutcomeUnknown, Suspended } from "./interrupts.js";
import { isOver } from "./is-over.js";
import { settleEffect } from "./settle-effect.js";

/** How long a run waits before it looks again for the outcome of another run's launch; a settlement wakes it. */
const LOOK_AGAIN_MS = 1_000;

/** A launch to be sent, another's move that came first (`sentAt` is undefined), or the answer that is given again. */
export type Launched = { effectId: string; launchNo: number; sentAt: number; sentAtWall: number } | { effectId: string; launchNo: number; sentAt: undefined } | { reuse: unknown };

/** The identity stands in the ledger: reuse, relaunch, wait, ask or give up. */
export async function meetEffect<Result>(parts: EffectParts, request: EffectRequest<Result>, { next, recorded }: { next: EffectLaunch; recorded: RecordedRow }): Promise<Launched> {
  const { options, execution } = request;
  const { effectId, launchNo } = recorded;
  const again = async (state: string): Promise<Launched> => {
    if (isOver(request)) throw new HoldLost("the execution is over");
    const answer = await whileHeld(request, () => relaunchEffect(parts.db, next, { effectId, launchNo, state, ownLaunch: recorded.ownLaunch }));
    if (answer.kind === "fenced") throw holdLost(parts, request);
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
      parts.onAsked(effectId, request.run.wireId);
      const said = await ask(options, { effectId, idempotencyKey: next.identity, signal: execution.abort.signal });
      if (said?.happened === true) {
        const result = await confirmEffect(parts, request, { effectId, launchNo, runId: request.run.id, via: "reconciler", answer: said.result });
        return { reuse: result };
      }
      if (said !== undefined && said.safe !== false) {
        await settleEffect(parts, request, { effectId, launchNo, runId: request.run.id, outcome: "absent", via: "reconciler" });
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

/** An outage of the database is outlasted while the run is held: the same launch may be written again. */
const whileHeld = <Result, Answer>(request: EffectRequest<Result>, act: () => Promise<Answer>): Promise<Answer> =>
  retryWhileAway(act, () => { if (isOver(request)) throw new HoldLost("the execution is over"); });
