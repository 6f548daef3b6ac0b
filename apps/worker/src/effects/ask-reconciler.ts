import type { EffectOptions, ReconcileAnswer, ReconcileCall } from "@mainstay/sdk";

/** One question may take so long. Milliseconds. */
const ASK_TIMEOUT_MS = 10_000;

/** Asks the declared reconciler once. Whatever goes wrong is no answer, never a "did not happen". */
export async function ask<Result>(options: EffectOptions<Result>, call: ReconcileCall): Promise<ReconcileAnswer<Result>> {
  const { reconcile } = options;
  if (reconcile === undefined) return undefined;
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]);
  const late = new Promise<undefined>((resolve) => { signal.addEventListener("abort", () => { resolve(undefined); }, { once: true }); });
  try {
    const said: unknown = await Promise.race([reconcile({ ...call, signal }), late]);
    return isAnswer<Result>(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever else code gives back is no answer. */
const isAnswer = <Result>(said: unknown): said is Exclude<ReconcileAnswer<Result>, undefined> =>
  typeof said === "object" && said !== null && "happened" in said && typeof said.happened === "boolean";
