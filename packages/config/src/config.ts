import type { Policy } from "./policy/policy.js";
import type { settings } from "./settings/settings.js";
import type { ValuesOf } from "./settings/setting.js";

type Values = ValuesOf<typeof settings>;

/**
 * What every process of the fleet knows. One name per setting of
 * `docs/reference/config.md`, units in the names.
 */
export type FleetConfig = Readonly<
  Pick<Values,
    | "env" | "databasePooler" | "broker" | "logLevel" | "heartbeatMs" | "leaseMs" | "auditMs" | "wedgedAfterMs" | "suspicionGraceMs"
    | "effectMarginMs" | "sendGraceMs" | "dispatchBoundMs" | "relayPollMs" | "drainMs" | "cancelGraceMs"
    | "statementTimeoutMs" | "idleTxTimeoutMs" | "dbPool" | "slots" | "maxAttempts" | "crashLimit" | "handBackLimit"
    | "lossLimit" | "deathWatch" | "tracing" | "traceRelation" | "signingKey" | "workflows" | "seams" | "egressAllow" | "retentionDays" | "retentionGraceHours">
  & {
    databaseUrl: string;
    /** For sessions that a pooler would hide; `DATABASE_URL` unless set. */
    databaseDirectUrl: string;
    host: string;
    /** 0 asks for any free port. */
    port: number;
    /** Worker pool; runs of a definition that names none go to `default`. */
    pool: string;
    commit: string;
    /** Of this release, such as `0.1.0`. */
    version: string;
    /** The longest gap between two sweeps while there is work about, or while the broker is away. */
    sweepMs: number;
    /** The longest gap between two sweeps of an idle worker, beside a live broker or without one. */
    idleSweepMs: number;
    policy: Policy;
  }
>;

/** The api: what it accepts, and which majors it serves. */
export type ApiConfig = FleetConfig & Readonly<Pick<Values, "bodyMaxBytes" | "inputMaxBytes" | "acceptCap" | "acceptCapWorkspace" | "streamStallMs" | "protocolV1">>;

/** How relay and worker reach the broker: `redisUrl` is there exactly when the broker is `redis`. */
export type BrokerConfig =
  | Readonly<{ broker: "redis"; redisUrl: string; brokerPrefix: string }>
  | Readonly<{ broker: "none"; redisUrl: undefined; brokerPrefix: string }>;

/** The relay. */
export type RelayConfig = FleetConfig & BrokerConfig;

/** The worker. */
export type WorkerConfig = FleetConfig & BrokerConfig & Readonly<Pick<Values, "outputMaxBytes">>;

/** The supervisor. */
export type SupervisorConfig = FleetConfig & Readonly<Pick<Values, "canary">>;

/** The command line; a database is needed by `migrate`, `key` and `dev` alone. */
export type CliConfig = Omit<FleetConfig, "databaseUrl" | "databaseDirectUrl"> & Readonly<{
  databaseUrl: string | undefined;
  databaseDirectUrl: string | undefined;
  redisUrl: string | undefined;
  brokerPrefix: string;
  apiUrl: string;
  apiKey: string | undefined;
}>;

/** The configuration of each role. */
export type ConfigOf = {
  api: ApiConfig;
  relay: RelayConfig;
  worker: WorkerConfig;
  supervisor: SupervisorConfig;
  cli: CliConfig;
};
