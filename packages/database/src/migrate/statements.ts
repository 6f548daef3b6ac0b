/**
 * The statements of the migration runner. The table is Prisma's own, column for column, so that its command
 * line and this runner may be used on one database. They are not prepared: each runs a few times a year.
 */
export const statements = {
  readPid: "select pg_catalog.pg_backend_pid() as pid",
  tryLock: "select pg_try_advisory_lock($1) as taken",
  createRecords: `create table if not exists _prisma_migrations (
    id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
    migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
    started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`,
  findRecords: `select id, migration_name as name, checksum, finished_at as "finishedAt", logs
    from _prisma_migrations where rolled_back_at is null`,
  recordStart: "insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)",
  recordFinish: `update _prisma_migrations
    set finished_at = clock_timestamp(), applied_steps_count = 1 where id = $1`,
  recordFailure: "update _prisma_migrations set logs = $2 where id = $1",
  recordRollback: "update _prisma_migrations set rolled_back_at = clock_timestamp() where id = $1",
  findInvalidIndex: `select c.oid::regclass::text as index
    from pg_class c join pg_index i on i.indexrelid = c.oid
    where c.relname = $1 and c.relnamespace = current_schema()::regnamespace and not i.indisvalid`,
} as const;
