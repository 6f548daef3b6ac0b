import pg from "pg";

/**
 * Makes the database that one simulating process has to itself: the clone's migrations, laid with a `now()` that reads the
 * session's `sim.now`, and triggers that tell every changed row. `public` comes before `pg_catalog` in the path, so that
 * the statements, the defaults of columns and the migrations themselves all find this `now()`.
 */
export async function layGround({ serverUrl, name, migrate, migrations }) {
  const url = withDatabase(serverUrl, name);
  await asAdmin(serverUrl, async (admin) => {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
    await admin.query(`alter database ${name} set search_path = public, pg_catalog`);
    await admin.query(`alter database ${name} set sim.now = '1900000000000'`);
    await admin.query(`alter database ${name} set sim.pid = '0'`);
  });
  await on(url, (client) => client.query(clock));
  await migrate(url, migrations);
  await on(url, async (client) => {
    await client.query(teller);
    for (const table of told) await client.query(`create trigger sim_tell after insert or update or delete on ${table} for each row execute function public.sim_tell()`);
  });
  return url;
}

/** Removes it with every session on it. */
export const clearGround = (serverUrl, name) => asAdmin(serverUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));

const told = ["runs", "run_nodes", "run_events", "outbox", "effects", "incarnations", "dead_letters", "idempotency_records", "recorded_outcomes"];

const clock = `
create function public.now() returns timestamptz language sql stable parallel safe
  as $$ select pg_catalog.to_timestamp(pg_catalog.current_setting('sim.now')::float8 / 1000) $$;
create function public.pg_backend_pid() returns int language sql stable
  as $$ select pg_catalog.current_setting('sim.pid')::int $$;
create table public.pg_locks (locktype text, classid bigint, objid bigint, objsubid int, granted boolean, mode text, database oid, pid int);
create table public.pg_stat_activity (pid int, backend_start timestamptz);`;

const teller = `
create function public.sim_tell() returns trigger language plpgsql as $$ begin
  raise notice 'sim:%', jsonb_build_object('table', tg_table_name, 'op', left(tg_op, 1), 'row',
    case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end - array['input', 'original_event', 'failure', 'payload']);
  return null;
end $$;`;

function withDatabase(serverUrl, name) {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return String(url);
}

const asAdmin = (serverUrl, act) => on(withDatabase(serverUrl, "postgres"), act);

async function on(connectionString, act) {
  const client = new pg.Client({ connectionString, application_name: "mainstay-sim" });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
