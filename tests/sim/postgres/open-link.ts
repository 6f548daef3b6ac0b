import pg from "pg";
import type { Statement } from "@mainstay/database";
import { pauseText } from "../../../packages/database/test/pause/pause-text.js";
import { realImmediate } from "../world/time.js";
import { askAt, CLOCK, clockText } from "./ask-at.js";
import type { Change, Outcome } from "./change.js";

/** One statement to execute: its text, its values, and the modelled session's process number. */
export type Sent = Readonly<{ statement: Statement<unknown>; values: readonly unknown[]; pid: number }>;

/** How the second of two overlapping statements went. */
export type Overlap = Readonly<{
  first: Outcome;
  second: Outcome;
  /** It waited for a lock of the first. */
  waited: boolean;
  /** It waited for a row, not for a unique key. */
  forRow: boolean;
}>;

/** The sessions on which the steps are really executed. */
export type Link = {
  /** In autocommit. */
  execute: (sent: Sent, nowMs: number) => Promise<Outcome>;
  /** `second` is sent while the transaction of `first` is open after its statement; then that commits, or its session dies. */
  overlap: (pair: { first: Sent; second: Sent; commit: boolean }, nowMs: number) => Promise<Overlap>;
  /** `paused` waits between its snapshot and its first row lock; there `meanwhile` is executed and committed. */
  pause: (pair: { paused: Sent; meanwhile: Sent }, nowMs: number) => Promise<{ paused: Outcome; meanwhile: Outcome }>;
  /** What the death watch looks at: the locks and sessions of the model. */
  showSessions: (sessions: readonly { pid: number; openedAt: number; locks: readonly string[] }[]) => Promise<void>;
  /** An empty database again. */
  clear: () => Promise<void>;
  end: () => Promise<void>;
};

type Side = { client: pg.Client; told: Change[]; pid: number };

const GATE = 7_700_001;
/** The CTE that everything else of a statement stands on, where it is not `input`. */
const otherPlaces: Readonly<Record<string, string>> = { "runs.sweep": "me" };

export async function openLink(url: string): Promise<Link> {
  const [one, two, gate] = await Promise.all([openSide(url), openSide(url), openSide(url)]);
  const send = async (side: Side, { statement, values, pid }: Sent, nowMs: number): Promise<Outcome> => {
    side.told = [];
    try {
      const rows = await askAt({ client: side.client, statement, values, clock: [String(nowMs), String(pid)] });
      return { rows, changes: side.told };
    } catch (error) {
      return { rows: [], error: error instanceof Error ? error : new Error(String(error)), changes: [] };
    }
  };
  let shown = "";
  const waits = async (side: Side, what: string): Promise<boolean> => {
    const { rows } = await gate.client.query<{ waits: boolean }>({ name: `sim.${what}`, text: questions[what] ?? "", values: [side.pid] });
    return rows[0]?.waits ?? false;
  };
  /** Resolves when the statement has ended or is seen to wait. */
  const settled = async (side: Side, answered: Promise<Outcome>, what: string): Promise<boolean> => {
    const done = { yes: false };
    void answered.then(() => { done.yes = true; });
    for (;;) {
      await new Promise((resolve) => realImmediate(resolve));
      if (done.yes) return false;
      if (await waits(side, what)) return true;
    }
  };
  return {
    execute: (sent, nowMs) => send(one, sent, nowMs),
    overlap: async ({ first, second, commit }, nowMs) => {
      await one.client.query("begin");
      const outcome = await send(one, first, nowMs);
      const answered = send(two, second, nowMs);
      const waited = await settled(two, answered, "blocked");
      const forRow = waited && (await waits(two, "row"));
      await one.client.query(commit && outcome.error === undefined ? "commit" : "rollback");
      return { first: commit ? outcome : { ...outcome, changes: [] }, second: await answered, waited, forRow };
    },
    pause: async ({ paused, meanwhile }, nowMs) => {
      await gate.client.query("select pg_advisory_lock($1)", [GATE]);
      const { name } = paused.statement;
      const text = pauseText(paused.statement.text, { cte: otherPlaces[name] ?? "input", key: GATE });
      const answered = send(two, { ...paused, statement: { ...paused.statement, name: `${name} paused`, text } }, nowMs);
      await settled(two, answered, "gated");
      const outcome = await send(one, meanwhile, nowMs);
      await gate.client.query("select pg_advisory_unlock($1)", [GATE]);
      return { paused: await answered, meanwhile: outcome };
    },
    showSessions: async (sessions) => {
      const told = JSON.stringify(sessions);
      if (told === shown) return;
      shown = told;
      const locks = sessions.flatMap(({ pid, locks: held }) => held.map((key) => [pid, ...key.split("/").map(Number)] as const));
      await gate.client.query({ name: "sim.show", text: showing, values: [
        locks.map(([pid]) => pid), locks.map(([, lockClass]) => lockClass), locks.map(([, , key]) => key), sessions.map(({ pid }) => pid), sessions.map(({ openedAt }) => openedAt)] });
    },
    clear: async () => {
      const emptied = await gate.client.query(`set session_replication_role = replica; ${clearing}`) as unknown as pg.QueryResult[]; // nobody is told
      const written = tables.filter((_, i) => (emptied[i + 1]?.rowCount ?? 0) > 0);
      if (written.length > 0) await gate.client.query(`vacuum (truncate, skip_locked) ${written.join(", ")}`);
    },
    end: async () => { await Promise.all([one, two, gate].map(({ client }) => client.end())); },
  };
}

const questions: Readonly<Record<string, string>> = {
  blocked: "select cardinality(pg_catalog.pg_blocking_pids($1)) > 0 as waits",
  // who waits for a row holds, or waits for, the tuple's own lock; who waits for a unique key does not
  row: "select exists (select from pg_catalog.pg_locks l where l.pid = $1 and l.locktype = 'tuple') as waits",
  gated: "select exists (select from pg_catalog.pg_locks l where l.pid = $1 and l.locktype = 'advisory' and not l.granted) as waits",
};

const tables = ["recorded_outcomes", "runs", "run_nodes", "run_events", "outbox", "effects", "incarnations", "dead_letters", "idempotency_records", "lanes", "recovery_decisions", "message_dead_letters", "ops_events"];
const clearing = tables.map((table) => `delete from ${table}`).join("; ");
const showing = `with gone as (delete from public.pg_locks), away as (delete from public.pg_stat_activity), held as (
  insert into public.pg_locks select 'advisory', t.class, t.key, 2, true, 'ExclusiveLock', d.oid, t.pid
  from unnest($1::int[], $2::bigint[], $3::bigint[]) as t(pid, class, key), pg_catalog.pg_database d where d.datname = current_database()
) insert into public.pg_stat_activity select t.pid, to_timestamp(t.at / 1000) from unnest($4::int[], $5::float8[]) as t(pid, at)`;

async function openSide(connectionString: string): Promise<Side> {
  const client = new pg.Client({
    connectionString, application_name: "mainstay-sim",
    options: "-c synchronous_commit=off -c plan_cache_mode=force_generic_plan -c jit=off -c timezone=UTC -c lock_timeout=20000 -c client_min_messages=notice",
  });
  await client.connect();
  const side: Side = { client, told: [], pid: (client as unknown as { processID: number }).processID };
  await client.query({ name: CLOCK, text: clockText, values: ["0", "0"] });
  client.on("notice", ({ message }) => {
    if (message?.startsWith("sim:") === true) side.told.push(JSON.parse(message.slice(4)) as Change);
  });
  return side;
}
