import { statement } from "../statement.js";
import type { Queryable } from "../database.js";
import { limitsCte, releasedRows, releaseTail, type Released, type ReleaseLimits } from "./release-tail.js";
import { releaseValues } from "./release-values.js";

const handBack = statement<Released>("runs.hand_back", `
with input as (
  select * from unnest($1::uuid[], $2::bigint[], $3::text[]) as t(id, fence, kind)
), ${limitsCte(5)}, locked as (
  select r.*, i.kind, case i.kind when 'hand_back' then 'handed_back' else 'mislaid' end as trigger, 0 as cohort, now() as since
  from input i join runs r on r.id = i.id
  where r.owner = $4::uuid and r.fence = i.fence and r.status = 'running'
    and (i.kind <> 'hand_back' or r.open_effects = 0)
  for no key update of r skip locked
), ${releaseTail}
${releasedRows}`);

/**
 * The holder gives runs back: on drain (`hand_back`), or because the database says it holds what it does not know
 * (`mislaid`). A run with an open effect is not handed back on drain: its launch stays, the lapse releases it.
 * Rows that others have locked are left out of the answer: ask again.
 */
export async function handBackRuns(
  db: Queryable,
  { owner, runs, limits }: { owner: string; runs: readonly { id: string; fence: string; kind: "hand_back" | "mislaid" }[]; limits: ReleaseLimits },
): Promise<Released[]> {
  return db.query(handBack, [runs.map(({ id }) => id), runs.map(({ fence }) => fence), runs.map(({ kind }) => kind), owner, ...releaseValues(limits)]);
}
