export { beginLiveness, type Liveness, type LivenessOptions } from "./begin-liveness.js";
export type { Readiness } from "./probe/answer-probe.js";
export type { Identity, LivenessSettings, LostReason } from "./thread/messages.js";
export { keepIncarnation, type KeepOptions, type KeptIncarnation } from "./keep-incarnation.js";
