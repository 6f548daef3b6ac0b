import type { FleetConfig } from "../config.js";
import type { Role } from "../settings/setting.js";

/** How a role opens its working pool. Times in milliseconds. */
export function databaseOptions(
  role: Role,
  { databaseUrl, dbPool, statementTimeoutMs, idleTxTimeoutMs }: Pick<FleetConfig, "databaseUrl" | "dbPool" | "statementTimeoutMs" | "idleTxTimeoutMs">,
): { url: string; applicationName: string; poolSize: number; statementTimeoutMs: number; idleInTransactionMs: number } {
  return { url: databaseUrl, applicationName: `mainstay-${role}`, poolSize: dbPool, statementTimeoutMs, idleInTransactionMs: idleTxTimeoutMs };
}
