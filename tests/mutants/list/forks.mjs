const runs = "packages/database/src/runs";
const pause = "packages/database/test/pause/pause.integration.test.ts";
const purge = "packages/database/src/retention/purge-runs.ts";

/** Guards of forks, of replays and of what retention takes away. */
export const forks = [
  {
    name: "a fork without key share", in: pause, kills: "a source that retention took away meanwhile is not found, and nothing is born",
    edits: [{ file: `${runs}/fork.ts`, find: " and r.workspace = i.workspace for key share of r\n", put: " and r.workspace = i.workspace\n" }],
  },
  {
    name: "a fork copies the log as far as it sees it", in: "packages/database/test/runs/forks.integration.test.ts", kills: "a run whose log is not whole is never forked, and the error says so",
    edits: [{ file: `${runs}/fork.ts`, find: "      when (select count(*) from run_events e where e.run_id = l.id) <> l.event_seq then 'busy'\n", put: "" }],
  },
  {
    name: "a fork begins its fences anew", in: pause, kills: "the same fork born meanwhile (a lost reply) is answered created and born once, with fences above the copied ones",
    edits: [{ file: `${runs}/fork.ts`, find: "i.mode, j.chain_depth, j.fence, i.from_seq,", put: "i.mode, j.chain_depth, 0, i.from_seq," }],
  },
  {
    name: "retention takes what is pinned", in: pause, kills: "a run that was pinned meanwhile stays with all that is recorded of it",
    edits: [{ file: purge, find: "    and (r.pinned_until is null or r.pinned_until < now())\n", put: "" }],
  },
  {
    name: "retention takes the source of a dead letter within its time", in: pause, kills: "a run whose dead letter is still within its time, or is being attempted, stays",
    edits: [{ file: purge, find: "    and not exists (select from dead_letters d where d.run_id = r.id and (d.expires_at + i.grace > now() or d.state = 'NEW_ATTEMPT'))\n", put: "" }],
  },
  {
    name: "replay keeps no outcomes", in: pause, kills: "a fork that was born meanwhile goes on without its source, a replay with what it recorded",
    edits: [{ file: `${runs}/fork.ts`, find: "  where b.fork_mode = 'replay'\n", put: "  where false\n" }],
  },
  {
    name: "replay fires", in: "apps/worker/src/effects/perform-effect.test.ts", kills: "an effect in a replay fires nothing and launches nothing",
    edits: [{ file: "apps/worker/src/effects/perform-effect.ts", find: "    if (request.run.recorded !== undefined) throw new FromRecord(`effect ${request.key}: a replay fires nothing`);\n", put: "" }],
  },
];
