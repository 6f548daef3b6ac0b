import type { FleetConfig } from "../config.js";

/** How often at most a node begins without ever reaching a checkpoint: the sum of its terms. */
export type AttemptBound = Readonly<{ bound: number; terms: readonly Readonly<{ name: string; count: number }>[] }>;

/** The settings that the attempt bound is made of. */
export type AttemptSettings = Pick<FleetConfig, "maxAttempts" | "crashLimit" | "handBackLimit" | "lossLimit">;

/**
 * After how many begun executions a poison node has ended its run, whatever
 * kills it: failures, crashes, hand-backs and losses each spend a limit of
 * their own (vocabulary of counters; I9). A definition that names its own
 * number of retries passes `maxRetries + 1` as `maxAttempts`.
 */
export function attemptBound({ maxAttempts, crashLimit, handBackLimit, lossLimit }: AttemptSettings): AttemptBound {
  const terms = [
    { name: "failures", count: maxAttempts },
    { name: "crashes", count: crashLimit },
    { name: "handBacks", count: handBackLimit },
    { name: "losses", count: lossLimit },
  ];
  return Object.freeze({ bound: terms.reduce((sum, { count }) => sum + count, 0), terms: Object.freeze(terms) });
}
