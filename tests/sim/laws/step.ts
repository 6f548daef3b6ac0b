import type { Outcome } from "../postgres/change.js";

/** One executed statement, as the laws look at it. */
export type Step = Readonly<{
  name: string;
  values: readonly unknown[];
  outcome: Outcome;
  /** Another statement moved between its snapshot and its locks: what it read without locking may be older. */
  raced: boolean;
  /** The database's clock, milliseconds since the epoch. */
  nowMs: number;
}>;

/** What the laws know of the fleet besides what the database holds. */
export type Facts = Readonly<{
  /** Requirement keys that an incarnation serves. */
  servedBy: (incarnation: string) => readonly string[];
  /** How often the outside world acted on an identity. */
  actsOf: (identity: string) => number;
  /** The process of an incarnation lives, is not frozen and was never cut off: nobody may take it for dead. */
  isHale: (incarnation: string) => boolean;
  /** The broker never takes its tickets. */
  isGuilty: (run: string) => boolean;
  limits: Readonly<{ crashLimit: number; lossLimit: number; handBackLimit: number }>;
  cancelGraceMs: number;
}>;
