// The supervisor's clock with the lane `slots`: one action a slot of CASE_SLOT_MS. A tick lasts longer than any fault of
// the case and takes a step every 100 ms; each step is written down on this machine, also when the database is away.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { statement } from "@mainstay/database";
import { startClock as start } from "../../../apps/supervisor/dist/clock/start-clock.js";

const slotMs = Number(process.env.CASE_SLOT_MS);
const tickMs = 10 * slotMs;

const act = statement("case.act", `
insert into case_actions (slot, pid) select floor(extract(epoch from clock_timestamp()) * 1000 / $1::int)::bigint, $2::int
on conflict (slot) do nothing returning slot`);

export const startClock = (options) => start({ ...options, lanes: [...options.lanes, slots(options)] });

function slots({ db }) {
  return {
    name: "slots", everyMs: 2_000, withinMs: 2 * tickMs,
    tick: async ({ signal }) => {
      for (const end = performance.now() + tickMs; !signal.aborted && performance.now() < end;) {
        appendFileSync(process.env.CASE_STEPS, `${JSON.stringify({ pid: process.pid, at: Date.now() })}\n`);
        await db.query(act, [slotMs, process.pid]).catch(() => undefined); // the next step tries again
        await sleep(100, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
