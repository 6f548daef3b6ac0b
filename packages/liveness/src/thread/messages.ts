import type { Channel, ReleaseLimits } from "@mainstay/database";
import type { LogEvent, LogFields, ReleasedFact } from "@mainstay/telemetry";

/** The settings the thread lives by; a fleet's configuration fits as it is. */
export type LivenessSettings = {
  /** Of the server itself, not of a pooler. */
  databaseDirectUrl: string;
  heartbeatMs: number;
  leaseMs: number;
  wedgedAfterMs: number;
  suspicionGraceMs: number;
  deathWatch: boolean;
  statementTimeoutMs: number;
  idleTxTimeoutMs: number;
};

/** Who this is, as it stands in the table of incarnations. */
export type Identity = {
  role: "api" | "relay" | "worker" | "supervisor";
  /** Worker pool. */
  pool?: string;
  host: string;
  version: string;
  slots?: number;
};

/** What the thread is born with. */
export type ThreadOrders = {
  incarnation: string;
  identity: Identity;
  settings: LivenessSettings;
  limits: ReleaseLimits;
  channels: readonly Channel[];
  probe: { host: string; port: number } | undefined;
  board: SharedArrayBuffer;
};

/** Why an incarnation is over although nobody asked it to end. */
export type LostReason = "lapsed" | "thread_failed";

/** A probe's question that only main can answer. */
export type ProbePath = "/health/ready" | "/health/startup" | "/metrics";
export type ProbeAnswer = { status: number; contentType: string; body: string };

/** Thread to main. */
export type FromThread =
  | { kind: "begun"; port: number | undefined }
  /** It could not begin and will not try again. */
  | { kind: "refused"; message: string; code: string | undefined }
  | { kind: "lost"; reason: LostReason }
  | { kind: "hint"; channel: Channel }
  | { kind: "log"; level: "debug" | "info" | "warn" | "error"; event: LogEvent; fields: LogFields }
  | { kind: "lapsed"; trigger: string }
  | { kind: "released"; released: readonly ReleasedFact[] }
  | { kind: "beat"; atMs: number }
  | { kind: "ask"; id: number; path: ProbePath }
  | { kind: "done"; id: number; error: string | undefined };

/** Main to thread. */
export type ToThread =
  | { kind: "drain"; id: number }
  /** `reach`: how long the good-bye may take. */
  | { kind: "retire"; id: number; withinMs: number }
  | { kind: "answer"; id: number; answer: ProbeAnswer };
