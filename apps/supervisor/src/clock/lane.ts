import type { LaneView } from "@mainstay/database";

/** The lanes of a supervisor; a label of metrics and a row of the table `lanes`. */
export type LaneName = "release" | "deadlines" | "retention" | "instances" | "positions";

/** What a tick is given. */
export type Tick = Readonly<{
  /** Aborts at the tick's deadline and when the lane's lease is over: no further item is begun. */
  signal: AbortSignal;
  /** An item whose statement failed: it is logged, counted and skipped. */
  itemFailed: (item: string, error: unknown) => void;
}>;

/** One kind of work on a clock. Every statement of it is safe beside another replica that does the same. */
export type Lane = Readonly<{
  name: LaneName;
  everyMs: number;
  /** The tick's deadline. */
  withinMs: number;
  /** Whether the look that every replica takes has seen anything for this lane; absent: every tick does its own looking. */
  wanted?: (view: LaneView) => boolean;
  tick: (tick: Tick) => Promise<void>;
}>;
