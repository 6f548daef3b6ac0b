import type { Receiver, TestFleet } from "@mainstay/testing";
import type { StandingWatch } from "./start-standing-watch.js";

/** The nine checks by name, in the order of the case list. */
export type StandingCheck = "accepted" | "terminal" | "log" | "fences" | "effects" | "outbox" | "processes" | "sessions" | "secrets";

/** An execution that really began: the node's own code wrote it. */
export type Begun = Readonly<{ runId: string; nodeId: string; fence: string; attempt: number; pid: number }>;

/** What the standing checks look at. */
export type Watched = Readonly<{
  fleet: TestFleet;
  /** The outside worlds its effects reach. */
  receivers: readonly Receiver[];
  /** Runs that were answered with 2xx; every one must be known. */
  accepted: () => readonly string[];
  /** What the nodes' own code wrote, where they write it. */
  begun: () => readonly Begun[];
  /** What was seen while the case went on. */
  watch?: StandingWatch;
  /** Texts that stand in inputs or are secret, and may stand nowhere else. */
  canaries: readonly string[];
  /** How long what settles by itself is waited for, in milliseconds; default 20,000. */
  settleMs?: number;
  /** Checks that do not hold here by design, each with the reason. */
  except: Readonly<Partial<Record<StandingCheck, string>>>;
}>;
