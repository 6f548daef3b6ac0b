import type { FleetConfig } from "../config.js";
import type { Role } from "../settings/setting.js";

/** How a role opens its working pool. Times in milliseconds. */
export function databaseOptions(
  role: Role,
  { databaseUrl, databasePooler, dbPool, statementTimeoutMs, idleTxTimeoutMs }: Pick<FleetConfig, "databaseUrl" | "databasePooler" | "dbPool" | "statementTimeoutMs" | "idleTxTimeoutMs">,
): { url: string; pooler: FleetConfig["databasePooler"]; applicationName: string; poolSize: number; statementTimeoutMs: number; idleInTransactionMs: number } {
  return {
    url: databaseUrl, pooler: databasePooler, applicationName: `mainstay-${role}`, poolSize: dbPool, statementTimeoutMs, idleInTransactionMs: idleTxTimeoutMs,
  };
}
