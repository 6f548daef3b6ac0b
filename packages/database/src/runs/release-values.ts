import { endings } from "./endings.js";
import type { ReleaseLimits } from "./release-tail.js";

const endingsText = JSON.stringify(endings);

/** The values of `limitsCte`, in its order. */
export const releaseValues = (limits: ReleaseLimits): unknown[] =>
  [limits.crashLimit, limits.lossLimit, limits.handBackLimit, limits.backoffBaseMs, limits.retentionDays, endingsText];
