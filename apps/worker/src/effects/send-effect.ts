import { NotApplied, WorkflowFailure } from "@mainstay/sdk";
import { confirmEffect } from "./confirm-effect.js";
import type { EffectParts, EffectRequest, LaunchRef } from "./effect-parts.js";
import { effectTimes } from "./effect-times.js";
import { inProgress } from "./in-progress.js";
import { HoldLost, LateLaunch, Suspended } from "./interrupts.js";
import { isDefiniteRefusal, saysInProgress } from "./is-definite-refusal.js";
import { settleEffect } from "./settle-effect.js";
import { severed } from "./severed.js";
import { traceLaunch } from "./trace-launch.js";

/**
 * Sends the one request of a launch and settles it by what comes back, also after the execution is over.
 *
 * Throws `Suspended` when the outcome is open and somebody can be asked or waited for, else what the launch threw.
 */
export async function sendEffect<Result>(
  parts: EffectParts, request: EffectRequest<Result>,
  { mine, identity, mayLeave }: { mine: LaunchRef; identity: string; mayLeave: () => boolean },
): Promise<Result> {
  const { execution, options, launch } = request;
  const unsafe = (options.class ?? "non_idempotent_write") === "non_idempotent_write";
  const { timeoutMs, quietMs } = effectTimes(options, parts.sendGraceMs);
  if (unsafe) execution.openUnsafe.set(mine.effectId, { canAsk: options.reconcile !== undefined, quietAt: performance.now() + quietMs });
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([execution.abort.signal, timeout]);
  const sending = AbortSignal.any([severed(execution.abort.signal), timeout]);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => { reject(timeout.aborted ? new WorkflowFailure("platform.timeout", { operation: request.key }) : new HoldLost("the execution was cut short")); }, { once: true });
  });
  late.catch(() => undefined);
  try {
    const call = { effectId: mine.effectId, idempotencyKey: identity, signal: sending, launch: mine.launchNo };
    const acted = traceLaunch(parts.tracing, request, { call, launch: (traced) => launch(traced, mayLeave) });
    // what arrives after the time-out is still evidence
    acted.then(
      (answer) => { if (signal.aborted) void confirmEffect(parts, request, { ...mine, via: "answer", answer }).catch(() => undefined); },
      (thrown: unknown) => { if (signal.aborted && refuses(thrown)) void settleEffect(parts, request, { ...mine, outcome: "absent", via: "refusal" }).catch(() => undefined); },
    );
    const answer = await Promise.race([acted, late]);
    return await confirmEffect(parts, request, { ...mine, via: "answer", answer });
  } catch (thrown) {
    if (thrown instanceof LateLaunch) throw thrown;
    if (refuses(thrown)) {
      const settled = await settleEffect(parts, request, { ...mine, outcome: "absent", via: "refusal" });
      if (settled !== "unclear") execution.openUnsafe.delete(mine.effectId);
      throw thrown;
    }
    if (options.class === "idempotent_write" && saysInProgress(thrown)) throw inProgress({ effectId: mine.effectId, launch: mine.launchNo });
    if (thrown instanceof HoldLost || !execution.openUnsafe.has(mine.effectId) || options.reconcile === undefined) throw thrown;
    throw new Suspended({ waitingOn: "reconciliation", dueMs: quietMs, asks: 0, effectId: mine.effectId }); // its reconciler is asked after the quiet instant
  }
}

const refuses = (thrown: unknown): boolean => NotApplied.is(thrown) || isDefiniteRefusal(thrown);
