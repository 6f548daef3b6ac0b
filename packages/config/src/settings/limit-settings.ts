import { kinds } from "./kinds.js";

/** How much of anything: slots, attempts, sizes, days. */
export const limitSettings = {
  slots: kinds.count({ name: "MAINSTAY_SLOTS", about: "Runs a worker holds at once." }, 50, { max: 10_000, unit: "runs" }),
  dbPool: kinds.count(
    { name: "MAINSTAY_DB_POOL", about: "Connections of the working pool, at least 3. Besides it a process has at most 4 sessions: heartbeat, lifeline with LISTEN, two watches." },
    5, { max: 500, unit: "connections" },
  ),
  maxAttempts: kinds.count(
    { name: "MAINSTAY_MAX_ATTEMPTS", about: "Failed attempts of a node before the engine gives up, where its definition names no number of retries." }, 4, { max: 1_000, unit: "attempts" },
  ),
  crashLimit: kinds.count({ name: "MAINSTAY_CRASH_LIMIT", about: "Deaths charged to a run before it is buried." }, 5, { max: 1_000, unit: "crashes" }),
  handBackLimit: kinds.count(
    { name: "MAINSTAY_HANDBACK_LIMIT", about: "Hand-backs without a new checkpoint that are free; beyond it each counts." }, 20, { max: 10_000, unit: "hand-backs" },
  ),
  lossLimit: kinds.count(
    { name: "MAINSTAY_LOSS_LIMIT", about: "Losses charged to nobody without a new checkpoint; beyond it each counts as a crash." }, 20, { max: 10_000, unit: "losses" },
  ),
  bodyMaxBytes: kinds.count(
    { name: "MAINSTAY_BODY_MAX_BYTES", about: "The largest request body the api reads." }, 1_048_576, { min: 1_024, max: 67_108_864, unit: "bytes" },
  ),
  inputMaxBytes: kinds.count(
    { name: "MAINSTAY_INPUT_MAX_BYTES", about: "The largest input of a run, at most the largest body." }, 262_144, { min: 256, max: 67_108_864, unit: "bytes" },
  ),
  outputMaxBytes: kinds.count(
    { name: "MAINSTAY_OUTPUT_MAX_BYTES", about: "The largest output of a node. All outputs of a run together are at most 64 times as large, those of its last nodes, which are the run’s own, 4 times." }, 262_144, { min: 256, max: 4_194_304, unit: "bytes" },
  ),
  acceptCap: kinds.count(
    { name: "MAINSTAY_ACCEPT_CAP", about: "Accepted runs waiting for a worker, in all, from which on the api answers 503 with Retry-After. Soft: counted every two seconds." }, 100_000, { max: 100_000_000, unit: "runs" },
  ),
  acceptCapWorkspace: kinds.count(
    { name: "MAINSTAY_ACCEPT_CAP_WORKSPACE", about: "The same for the runs of one workspace, so that one cannot fill the door for all." }, 50_000, { max: 100_000_000, unit: "runs" },
  ),
  retentionDays: kinds.count(
    { name: "MAINSTAY_RETENTION_DAYS", about: "How long ended runs and dead letters are kept." }, 30, { max: 3_650, unit: "days" },
  ),
  retentionGraceHours: kinds.count(
    { name: "MAINSTAY_RETENTION_GRACE_HOURS", about: "How long after that an attempt in flight may still keep its rows." }, 24, { min: 0, max: 8_760, unit: "hours" },
  ),
} as const;
