const runs = "packages/database/src/runs";
const pause = "packages/database/test/pause/pause.integration.test.ts";
const releasesTest = "packages/database/test/runs/releases.integration.test.ts";

/** Guards of releasing statements, of stops and of incarnations. */
export const releases = [
  {
    name: "a lane's lease that is over stops nobody", in: "apps/supervisor/src/clock/create-holds.test.ts", kills: "a hold ends by itself when its lease is over",
    edits: [{ file: "apps/supervisor/src/clock/create-holds.ts", find: "    hold?.over.abort();\n", put: "" }],
  },
  {
    name: "an old answer gives a lane", in: "apps/supervisor/src/clock/create-holds.test.ts", kills: "an answer that was read after its lease was over",
    edits: [{ file: "apps/supervisor/src/clock/create-holds.ts", find: "      if (leftMs <= 0) { end(name); return; }\n", put: "" }],
  },
  {
    name: "the runs of a live owner are taken over", in: releasesTest, kills: "the runs of a live owner are never taken over",
    edits: [{ file: `${runs}/take-over.ts`, find: "  where n.lapsed_at is not null or n.ended_at is not null\n", put: "" }],
  },
  {
    name: "a release announces nothing", in: pause, kills: "its new ticket is announced",
    edits: [{ file: `${runs}/release-tail.ts`, find: "from moved m where m.status = 'running'", put: "from moved m where false" }],
  },
  {
    name: "a cancel leaves the ticket of a timer behind", in: "packages/database/test/runs/endings.integration.test.ts", kills: "a run that ends while it waits takes the ticket of its timer along",
    edits: [{ file: `${runs}/request-stop.ts`, find: "where m.status = 'cancelled' and m.former_due_at > now()", put: "where false and m.former_due_at > now()" }],
  },
  {
    name: "a deadline leaves the ticket of a timer behind", in: "packages/database/test/runs/endings.integration.test.ts", kills: "a run that ends while it waits takes the ticket of its timer along",
    edits: [{ file: `${runs}/release-tail.ts`, find: "where m.status in ('cancelled', 'failed') and m.former_due_at > now()", put: "where false and m.former_due_at > now()" }],
  },
  {
    name: "a shared death is charged to all", in: releasesTest, kills: "a death shared by several runs is charged to none of them",
    edits: [{ file: `${runs}/release-tail.ts`, find: "when 'take_over' then l.cohort <= 1 or", put: "when 'take_over' then true or" }],
  },
  {
    name: "a burial does not look whether its effects are the counted ones", in: pause, kills: "is never buried as if nothing were open",
    edits: [{ file: `${runs}/release-tail.ts`, find: "where j.outcome <> 'failed' or j.open_effects = (select s.open_effects from runs s where s.id = j.id)", put: "" }],
  },
  {
    name: "a stop is passed by on release", in: pause, kills: "a cancel asked for meanwhile ends the run instead of releasing it",
    edits: [{ file: `${runs}/release-tail.ts`, find: "      when c.stop_requested = 'cancel' then 'cancelled'\n", put: "" }],
  },
  {
    name: "a run with an open effect is handed back", in: pause, kills: "a run whose effect was launched meanwhile is not handed back",
    edits: [{ file: `${runs}/hand-back.ts`, find: "    and (i.kind <> 'hand_back' or r.open_effects = 0)\n", put: "" }],
  },
  {
    name: "no fence in a hand-back", in: releasesTest, kills: "a hand-back under an old fence changes nothing",
    edits: [{ file: `${runs}/hand-back.ts`, find: "r.fence = i.fence and ", put: "" }],
  },
  {
    name: "a suspicion serves a run again and again", in: releasesTest, kills: "a suspicion serves a run once between two checkpoints",
    edits: [{ file: `${runs}/suspect.ts`, find: " and not r.suspicion_used\n", put: "\n" }],
  },
  {
    name: "a suspicion takes a run out of its effect", in: pause, kills: "a run whose effect was launched meanwhile waits for the lapse",
    edits: [{ file: `${runs}/suspect.ts`, find: "where r.open_effects = 0 and not", put: "where not" }],
  },
  {
    name: "a cancel ends a run under its holder", in: pause, kills: "a run that was claimed meanwhile is asked to stop",
    edits: [{ file: `${runs}/request-stop.ts`, find: "and r.workspace = n.workspace for no key update of r) r", put: "and r.workspace = n.workspace) r" }],
  },
  {
    name: "a lapse does not compare the beat number", in: pause, kills: "also when the database's clock was set forward since",
    edits: [{ file: "packages/database/src/incarnations/lapse.ts", find: " and n.beat_no = i.beat_no\n", put: "\n" }],
  },
  {
    name: "a lapsed incarnation beats on", in: pause, kills: "incarnations.beat, paused before its lock: an incarnation that lapsed meanwhile stays dead",
    edits: [{ file: "packages/database/src/incarnations/beat.ts", find: "where n.id = $1::uuid and n.lapsed_at is null and n.ended_at is null\n", put: "where n.id = $1::uuid\n" }],
  },
];
