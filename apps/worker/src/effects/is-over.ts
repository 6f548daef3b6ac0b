import type { EffectRequest } from "./effect-parts.js";

/** Asked anew after every await: what a cancel, a time-out or a peer has ended sends nothing more. */
export const isOver = <Result>({ run, execution }: EffectRequest<Result>): boolean => run.dropped || execution.over || execution.abort.signal.aborted;
