import type { Queryable } from "../database.js";
import { statement } from "../statement.js";

/** What the doctor asks the database server. */
export type ServerRow = {
  /** Such as `18.0`. */
  version: string;
  now: Date;
  synchronousCommit: string;
  synchronousStandbys: string;
  statementTimeout: string;
  idleInTransactionTimeout: string;
  /** Migrations that finished; the last one's name. */
  migrations: number;
  lastMigration: string | null;
  unfinishedMigrations: number;
};

const server = statement<ServerRow>("reads.server", `
select current_setting('server_version') as version, now() as now,
  current_setting('synchronous_commit') as "synchronousCommit",
  current_setting('synchronous_standby_names') as "synchronousStandbys",
  current_setting('statement_timeout') as "statementTimeout",
  current_setting('idle_in_transaction_session_timeout') as "idleInTransactionTimeout",
  count(m.finished_at)::int as migrations,
  max(m.migration_name) filter (where m.finished_at is not null) as "lastMigration",
  (count(*) filter (where m.id is not null and m.finished_at is null and m.rolled_back_at is null))::int as "unfinishedMigrations"
from (select) one left join _prisma_migrations m on true`, { plan: "custom" });

/** Version, settings of the session and the state of the schema. */
export async function readServer(db: Queryable): Promise<ServerRow> {
  const [row] = await db.query(server, []);
  if (row === undefined) throw new Error("reads.server answered no row");
  return row;
}
