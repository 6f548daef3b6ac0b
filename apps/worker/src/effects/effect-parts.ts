import type { EffectClass } from "@mainstay/domain";
import type { EffectLaunch, GroupCommit, LaunchAnswer, Queryable, Settlement, SettleAnswer } from "@mainstay/database";
import type { EffectCall, EffectOptions } from "@mainstay/sdk";
import type { Execution, HeldRun } from "../runs/held-run.js";
import type { Tracing } from "@mainstay/telemetry";
import type { Life } from "../life.js";

/** What an act on the outside world stands on in this process. */
export type EffectParts = {
  db: Queryable;
  life: Life;
  tracing?: Tracing | undefined;
  launch: GroupCommit<EffectLaunch, LaunchAnswer>;
  settle: GroupCommit<Settlement, SettleAnswer>;
  effectMarginMs: number;
  sendGraceMs: number;
  onSettled: (outcome: "confirmed" | "absent", effectClass: EffectClass) => void;
  onContradicted: (effectId: string, runId: string) => void;
  onAsked: (effectId: string, runId: string) => void;
  onFenced: (op: string, runId?: string) => void;
};

/** One act that a node asks for. */
export type EffectRequest<Result> = {
  run: HeldRun; execution: Execution; key: string; options: EffectOptions<Result>; input: unknown;
  /** `mayLeave` says right before the first byte whether the send grace still holds. */
  launch: (call: EffectCall, mayLeave: () => boolean) => Result | Promise<Result>;
};

/** Which launch of which effect, and whose run made it. */
export type LaunchRef = Pick<Settlement, "effectId" | "launchNo" | "runId">;
