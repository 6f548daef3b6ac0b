/** The node waits without holding a slot and goes on under the same attempt. Not a failure. */
export class Suspended extends Error {
  readonly waitingOn: "timer" | "reconciliation" | "effect";
  readonly dueMs: number;
  readonly asks: number;
  readonly effectId: string | undefined;
  constructor({ waitingOn, dueMs, asks, effectId }: { waitingOn: "timer" | "reconciliation" | "effect"; dueMs: number; asks: number; effectId?: string }) {
    super(`the node waits on ${waitingOn}`);
    this.waitingOn = waitingOn;
    this.dueMs = dueMs;
    this.asks = asks;
    this.effectId = effectId;
  }
}

/** Nobody can say whether the effect happened: the run ends as UNKNOWN, never as a new try. */
export class OutcomeUnknown extends Error {
  readonly effectIds: readonly string[];
  constructor(effectIds: readonly string[]) {
    super(`the outcome of ${effectIds.join(", ")} is unknown`);
    this.effectIds = effectIds;
  }
}

/** A node of a replay has reached an effect: it ends as its source recorded, and nothing fires. */
export class FromRecord extends Error {}

/** The hold is gone, or its end is too near to start an effect: nothing of this execution is recorded. */
export class HoldLost extends Error {}

/** The run is paused at once: the code is told and nothing of it is recorded, but its request stays on the wire. */
export class PauseCut extends Error {}

/** The send grace was over before the first byte: nothing left, and the launch is made again. */
export class LateLaunch extends Error {}
