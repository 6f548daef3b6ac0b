import { createHash } from "node:crypto";
import { capabilitiesOf, requirementKey, type WorkflowDocument } from "@mainstay/domain";
import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A definition as registered: pinned by the hash of its document. */
export type RegisteredWorkflow = { specHash: string; requires: string; pool: string; document: WorkflowDocument };

const register = statement<{ spec_hash: string }>("workflows.register", `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[], $5::text[], $6::text[], $7::jsonb[])
    as t(spec_hash, workflow_id, version, document, requires, pool, capabilities)
), needed as (
  insert into requirements (key, pool, capabilities)
  select distinct i.requires, i.pool, array(select jsonb_array_elements_text(i.capabilities)) from input i order by 1
  on conflict (key) do nothing
)
insert into workflow_specs (spec_hash, workflow_id, version, document, requires)
select i.spec_hash, i.workflow_id, i.version, i.document, i.requires from input i order by i.spec_hash
on conflict (spec_hash) do update set registered_at = now()
returning spec_hash`);

/** Keys in a fixed order, so that the same document has the same hash everywhere. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, canonical(inner)]));
}

/** The hash that pins a document for a pool, and the requirement key that its runs carry. */
export function pinWorkflow(document: WorkflowDocument, pool: string): RegisteredWorkflow {
  const specHash = createHash("sha256").update(JSON.stringify(canonical(document))).digest("hex");
  return { specHash, requires: requirementKey(pool, capabilitiesOf(document, specHash)), pool, document };
}

/**
 * Registers definitions. What the process that registered last brought is the current definition of its id, also when it
 * is an earlier one again; runs stay on the document they were accepted with.
 */
export async function registerWorkflows(db: Queryable, workflows: readonly RegisteredWorkflow[]): Promise<void> {
  if (workflows.length === 0) return;
  await db.query(register, [
    workflows.map(({ specHash }) => specHash), workflows.map(({ document }) => document.id),
    workflows.map(({ document }) => document.version), workflows.map(({ document }) => JSON.stringify(document)),
    workflows.map(({ requires }) => requires), workflows.map(({ pool }) => pool),
    workflows.map(({ document, specHash }) => JSON.stringify(capabilitiesOf(document, specHash))),
  ]);
}
