import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

/** Why the queue's own message is dead. Nothing to do with the dead letters of runs. */
export type MessageFault = "unparsable" | "no_run_ids" | "too_many_runs" | "run_not_found" | "unpublishable";

/** Stored text is cut after so many characters. */
const MOST_TEXT = 2_000;

const record = statement<{ id: string }>("messages.record", `
insert into message_dead_letters (pool, reason, named_run, body, seen_by)
values ($1::text, $2::text, $3::text, $4::text, $5::uuid)
returning id`);

/** Keeps a queue message that names no valid run, or cannot be read, for an operator. Text Postgres cannot hold is replaced. */
export async function recordDeadMessage(
  db: Queryable, message: { pool: string; reason: MessageFault; namedRun?: string; body?: string; seenBy: string },
): Promise<void> {
  const body = message.body?.toWellFormed().replaceAll("\u0000", "\uFFFD").slice(0, MOST_TEXT);
  await db.query(record, [message.pool, message.reason, message.namedRun ?? null, body ?? null, message.seenBy]);
}
