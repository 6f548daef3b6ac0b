import { askDelayMs } from "@mainstay/domain";
import type { EffectCall } from "@mainstay/sdk";
import { Suspended } from "./interrupts.js";

/** The destination says "in progress" for our own key: not settled, never a failure. Sent again under the same key, 1 s to 60 s apart. */
export const inProgress = ({ effectId, launch }: Pick<EffectCall, "effectId" | "launch">): Suspended =>
  new Suspended({ waitingOn: "effect", dueMs: askDelayMs(launch - 1), asks: 0, effectId });
