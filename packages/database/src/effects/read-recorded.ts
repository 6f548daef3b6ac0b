import type { RecordedEffect } from "@mainstay/domain";
import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What the ledger says of an identity; the facts beside it are judged by the database's clock. */
export type RecordedRow = RecordedEffect & {
  effectId: string;
  launchId: string;
  /** The launch belongs to this run (under an earlier fence). */
  ownLaunch: boolean;
  quietInMs: number;
  answer: unknown;
};

const recorded = statement<{
  asked: string; id: string; launch_id: string; state: RecordedEffect["state"]; class: RecordedEffect["class"]; launch_no: number;
  same_digest: boolean; own: boolean; holder_gone: boolean; quiet: boolean; quiet_in_ms: number; key_remembered: boolean; asks: number; answer: unknown;
}>("effects.recorded", `
select i.launch_id as asked, e.id, e.launch_id, e.state, e.class, e.launch_no,
  e.request_digest = decode(i.request_digest, 'hex') as same_digest, e.run_id = i.run_id as own,
  -- positive and monotone: what this run launched before is over, since its holder asks (a key is used once in an
  -- execution); another run's launch is over only with that run's end
  e.run_id = i.run_id
    or exists (select from runs r where r.id = e.run_id and e.run_id <> i.run_id and r.finished_at is not null) as holder_gone,
  e.quiet_at <= now() as quiet, greatest(0, extract(epoch from e.quiet_at - now()) * 1000)::float8 as quiet_in_ms,
  coalesce(e.key_until > now(), false) as key_remembered, e.asks, e.answer
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[])
  as i(launch_id, workspace, identity, request_digest, run_id)
join effects e on e.workspace = i.workspace and e.identity = decode(i.identity, 'hex')`);

/** Reads the ledger for identities that were not new; by the launch id that asked. */
export async function readRecorded(
  db: Queryable,
  asked: readonly { launchId: string; workspace: string; identity: string; requestDigest: string; runId: string }[],
): Promise<Map<string, RecordedRow>> {
  const rows = await db.query(recorded, [
    asked.map((one) => one.launchId), asked.map((one) => one.workspace), asked.map((one) => one.identity),
    asked.map((one) => one.requestDigest), asked.map((one) => one.runId),
  ]);
  return new Map(rows.map((row) => [row.asked, {
    effectId: row.id, launchId: row.launch_id, state: row.state, class: row.class, launchNo: row.launch_no,
    sameDigest: row.same_digest, ownLaunch: row.own, holderGone: row.holder_gone, quiet: row.quiet,
    quietInMs: row.quiet_in_ms, keyRemembered: row.key_remembered, asks: row.asks, answer: row.answer,
  }]));
}
