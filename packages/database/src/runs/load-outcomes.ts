import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** What the source of a replay recorded: the end of a node, or of the run (`node` is null). */
export type RecordedOutcome = { seq: number; eventId: string; type: string; node: string | null; payload: Record<string, unknown> };

const outcomes = statement<RecordedOutcome>("runs.load_outcomes", `
select o.seq, o.event_id as "eventId", o.type, o.node_id as node, o.payload
from recorded_outcomes o where o.run_id = $1::uuid order by o.seq`);

/** The outcomes that a replay fork is answered from and compared with, in the order of its source's log. */
export const loadOutcomes = (db: Queryable, runId: string): Promise<RecordedOutcome[]> => db.query(outcomes, [runId]);
