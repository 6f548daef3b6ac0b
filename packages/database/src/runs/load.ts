import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** One node of a run as the earlier holders left it; `dueMs` from the database's now. */
export type LoadedNode = { node: string; status: string; attempts: number; failures: number; asks: number; output: unknown; dueMs: number | null; waitingEffect: string | null };

const load = statement<{ id: string; node_id: string; status: string; attempts: number; failures: number; asks: number; output: unknown; due_ms: number | null; waiting_effect: string | null }>(
  "runs.load", `
select n.run_id as id, n.node_id, n.status, n.attempts, n.failures, n.asks, n.output, n.waiting_effect,
  (extract(epoch from n.due_at - now()) * 1000)::float8 as due_ms
from unnest($1::uuid[]) as t(id) join run_nodes n on n.run_id = t.id
order by n.run_id, n.node_id`);

/** The nodes of runs that this incarnation has just claimed, as the earlier holders left them. */
export async function loadNodes(db: Queryable, runIds: readonly string[]): Promise<Map<string, LoadedNode[]>> {
  const byRun = new Map<string, LoadedNode[]>(runIds.map((id) => [id, []]));
  for (const { id, node_id: node, due_ms: dueMs, waiting_effect: waitingEffect, ...rest } of await db.query(load, [runIds])) byRun.get(id)?.push({ node, dueMs, waitingEffect, ...rest });
  return byRun;
}
