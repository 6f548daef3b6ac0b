/** Milliseconds of the system-wide monotonic clock: the same in every thread, untouched by steps of the wall clock. */
export function monotonicMs(): number {
  return toMs(process.hrtime.bigint());
}

/** Nanoseconds of `process.hrtime` as milliseconds. */
export function toMs(nanoseconds: bigint): number {
  return Number(nanoseconds / 1000n) / 1000;
}

/** Milliseconds as nanoseconds of `process.hrtime`. */
export function toNs(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * 1000)) * 1000n;
}
