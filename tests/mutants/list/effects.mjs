const effectsFolder = "packages/database/src/effects";
const pause = "packages/database/test/pause/pause.integration.test.ts";

/** Guards of the ledger. */
export const effects = [
  {
    name: "a date to wait for is counted from this machine's clock", in: "apps/worker/src/nodes/retry-after-of.test.ts", kills: "a date is counted from the answer's own date",
    edits: [{ file: "apps/worker/src/nodes/retry-after-of.ts", find: "(Number.isNaN(said) ? Date.now() : said)", put: "Date.now()" }],
  },
  {
    name: "no lock of the run row before a launch", in: pause, kills: "effects.launch, paused before its lock: a holder that lost the run meanwhile launches nothing",
    edits: [{ file: `${effectsFolder}/launch.ts`, find: "where r.id = i.run_id for no key update skip locked) r", put: "where r.id = i.run_id) r" }],
  },
  {
    name: "no fence in a launch", in: pause, kills: "effects.launch, paused before its lock: a holder that lost the run meanwhile launches nothing",
    edits: [{ file: `${effectsFolder}/launch.ts`, find: "where l.owner = i.owner and l.fence = i.fence and l.status = 'running'", put: "where l.status = 'running'" }],
  },
  {
    name: "a relaunch does not compare what it read", in: pause, kills: "an effect that another launched again meanwhile is launched once",
    edits: [{ file: `${effectsFolder}/relaunch.ts`, find: "s.launch_no = h.seen_no and s.state = h.seen_state and s.state <> 'confirmed'", put: "s.state <> 'confirmed'" }],
  },
  {
    name: "a confirmed effect is launched again", in: pause, kills: "an effect that was confirmed meanwhile is read again, not sent again",
    edits: [{ file: `${effectsFolder}/relaunch.ts`, find: "s.launch_no = h.seen_no and s.state = h.seen_state and s.state <> 'confirmed'", put: "s.launch_no = h.seen_no" }],
  },
  {
    name: "a settlement does not look at its launch number", in: pause, kills: "evidence about an earlier launch does not settle",
    edits: [{ file: `${effectsFolder}/settle.ts`, find: "where t.launch_no = i.launch_no and t.state in ('launched', 'unknown')", put: "where t.state in ('launched', 'unknown')" }],
  },
  {
    name: "the refusal of a launch speaks for the one before it", in: "packages/database/test/effects/unclear.integration.test.ts", kills: "a second launch that ends by refusal says nothing of the first",
    edits: [{ file: `${effectsFolder}/settle.ts`, find: "and not (t.unclear and i.outcome = 'absent' and i.via in ('refusal', 'unsent'))", put: "" }],
  },
  {
    name: "a settlement wakes nobody", in: "packages/database/test/runs/endings.integration.test.ts", kills: "a settlement wakes the run that waits for the effect",
    edits: [{ file: `${effectsFolder}/settle.ts`, find: "insert into outbox (run_id, pool) select id, pool from changed where wake", put: "select from changed" }],
  },
  {
    name: "a launch may be sent after its reply was lost", in: "packages/database/test/batch/lost-replies.integration.test.ts", kills: "a launch whose reply was lost",
    edits: [{ file: `${effectsFolder}/launch.ts`, find: "sentAt: Number.NEGATIVE_INFINITY, sentAtWall: Number.NEGATIVE_INFINITY };", put: "...sent };" }],
  },
];
