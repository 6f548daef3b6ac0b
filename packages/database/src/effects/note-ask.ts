import { statement } from "../statement.js";
import type { Queryable } from "../database.js";

const askOnce = statement<{ asks: number }>("effects.note_ask", `
update effects set asks = asks + 1
where id = $1::uuid and launch_no = $2::int and state in ('launched', 'unknown')
returning asks`);

/** Counts a question that a reconciler could not answer; gives how many there were, or `undefined` when it is settled. */
export async function noteAsk(db: Queryable, effect: { effectId: string; launchNo: number }): Promise<number | undefined> {
  const [row] = await db.query(askOnce, [effect.effectId, effect.launchNo]);
  return row?.asks;
}
