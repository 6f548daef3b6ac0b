import type { Bench } from "../bench/open-bench.js";

/** One interleaving: what another session commits between a statement's snapshot and its lock, and what must hold then. */
export type Scenario = {
  /** The statement that waits, `noun.verb`. */
  of: string;
  /** What is true of it. */
  holds: string;
  show: (bench: Bench) => Promise<void>;
};
