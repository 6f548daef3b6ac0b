import { PauseCut } from "./interrupts.js";

const known = new WeakMap<AbortSignal, AbortSignal>();

/**
 * Aborts with the execution, unless it was cut by a pause: then the requests under way go on to their answers, which are
 * evidence. One signal for all effects of an execution: it may have thousands, and each listener stays to its end.
 */
export function severed(cut: AbortSignal): AbortSignal {
  const before = known.get(cut);
  if (before !== undefined) return before;
  const sever = new AbortController();
  const heed = () => { if (!(cut.reason instanceof PauseCut)) sever.abort(cut.reason); };
  if (cut.aborted) heed();
  else cut.addEventListener("abort", heed, { once: true });
  known.set(cut, sever.signal);
  return sever.signal;
}
