import type { WorkflowDocument } from "@mainstay/domain";
import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** A registered definition with the requirement its runs carry. */
export type FoundWorkflow = { specHash: string; workflowId: string; version: string; requires: string; pool: string; document: WorkflowDocument };

const columns = `s.spec_hash as "specHash", s.workflow_id as "workflowId", s.version, s.requires, q.pool, s.document`;

const current = statement<FoundWorkflow>("workflows.current", `
select distinct on (s.workflow_id) ${columns}
from workflow_specs s join requirements q on q.key = s.requires
where s.workflow_id = any($1::text[]) order by s.workflow_id, s.registered_at desc`);

const pinned = statement<FoundWorkflow>("workflows.pinned", `
select ${columns} from workflow_specs s join requirements q on q.key = s.requires where s.spec_hash = any($1::text[])`);

/** The current definitions of these workflow ids; unknown ids are absent. */
export const findCurrentWorkflows = (db: Queryable, ids: readonly string[]): Promise<FoundWorkflow[]> => db.query(current, [ids]);

/** The definitions with these hashes. */
export const findPinnedWorkflows = (db: Queryable, hashes: readonly string[]): Promise<FoundWorkflow[]> => db.query(pinned, [hashes]);
