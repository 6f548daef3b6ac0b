import type { EffectState, Keying } from "@mainstay/domain";
import type { Database } from "../database.js";
import { statement } from "../statement.js";

/** One row of the ledger as a reader sees it: no request, no answer. */
export type EffectRow = {
  id: string;
  nodeId: string;
  attempt: number;
  keying: Keying;
  state: EffectState;
  at: Date;
  launchId: string;
  providerKey: string | null;
};

const effects = statement<EffectRow & { run: string }>("reads.effects", `
select e.id, e.node_id as "nodeId", e.attempt, e.keying, e.state, coalesce(e.settled_at, e.launched_at) as at,
  e.launch_id as "launchId", e.provider_key as "providerKey"
from runs r join effects e on e.run_id = r.id or e.lineage = r.lineage
where r.id = $1::uuid
order by e.first_launched_at, e.id
limit 10000`, { plan: "custom" });

const exists = statement<{ id: string }>("reads.run_exists", `select r.id from runs r where r.id = $1::uuid`);

/** The effects launched by a run or its lineage, oldest first. `undefined` for a run unknown or of another workspace. */
export function readEffects(db: Database, workspace: string, runId: string): Promise<EffectRow[] | undefined> {
  return db.read(workspace, async (transaction) => {
    const [run] = await transaction.query(exists, [runId]);
    return run === undefined ? undefined : transaction.query(effects, [runId]);
  });
}
