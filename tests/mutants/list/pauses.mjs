const runs = "packages/database/src/runs";
const pause = "packages/database/test/pause/pause.integration.test.ts";

/** Guards of pause and resume. */
export const pauses = [
  {
    name: "a pause is honoured by writing the holder's status", in: pause, kills: "a run that was claimed meanwhile is asked to pause, not paused under its holder",
    edits: [{ file: `${runs}/request-pause.ts`, find: "    owner = l.owner, -- of the locked row, as the status: a constraint is checked before a newer version is read\n    status = case when l.owner is null then 'paused' else l.status end,\n    paused_from = case when l.owner is null then l.status end,\n", put: "    owner = null,\n    status = 'paused',\n    paused_from = l.status,\n" }],
  },
  {
    name: "a pause does not lock the run first", in: pause, kills: "a run that was claimed meanwhile is asked to pause, not paused under its holder",
    edits: [{ file: `${runs}/request-pause.ts`, find: " and r.workspace = i.workspace for no key update of r\n", put: " and r.workspace = i.workspace\n" }],
  },
  {
    name: "a pause weakens a cancel", in: pause, kills: "a cancel asked for meanwhile is not weakened to a pause",
    edits: [{ file: `${runs}/request-pause.ts`, find: "\n    and l.stop_requested is null\n", put: "\n" }],
  },
  {
    name: "a cancel keeps the reason of the pause", in: pause, kills: "a pause asked for meanwhile is overtaken by the cancel, which tells its own reason",
    edits: [{ file: `${runs}/request-stop.ts`, find: "case when l.stop_requested = 'cancel' then coalesce(l.stop_reason, l.told_reason) else l.told_reason end", put: "coalesce(l.stop_reason, l.told_reason)" }],
  },
  {
    name: "a run is completed over a pause", in: pause, kills: "a pause asked for meanwhile turns the completion into a pause and keeps the checkpoint",
    edits: [{ file: `${runs}/progress.ts`, find: "a.move in ('park', 'complete', 'pause') then 'pause'", put: "a.move in ('park', 'pause') then 'pause'" }],
  },
  {
    name: "a run is parked over a pause", in: pause, kills: "a pause asked for meanwhile turns parking into a pause that keeps the wait",
    edits: [{ file: `${runs}/progress.ts`, find: "a.move in ('park', 'complete', 'pause') then 'pause'", put: "a.move in ('complete', 'pause') then 'pause'" }],
  },
  {
    name: "a pause that was taken back is honoured", in: pause, kills: "a pause that was taken back meanwhile leaves the run with its holder",
    edits: [{ file: `${runs}/progress.ts`, find: "      when a.move = 'pause' then 'hold'\n", put: "" }],
  },
  {
    name: "a draining pause is cut after the grace", in: pause, kills: "a pause that lets its node finish is left to its holder",
    edits: [{ file: `${runs}/enforce-stops.ts`, find: "r.stop_drain is distinct from 'drain-current-node'\n      and ", put: "" }],
  },
  {
    name: "a resume announces nothing", in: pause, kills: "a pause that its holder honoured meanwhile is resumed, not withdrawn, and announced",
    edits: [{ file: `${runs}/unpause.ts`, find: "from moved m where m.former = 'paused'\n), recorded", put: "from moved m where false\n), recorded" }],
  },
  {
    name: "a resume takes a running run from its holder", in: pause, kills: "a run that another resume let go on and a worker claimed meanwhile keeps its holder",
    edits: [{ file: `${runs}/unpause.ts`, find: "    and (l.status = 'paused' or (l.stop_requested = 'pause' and l.status not in ('completed', 'failed', 'cancelled')))\n", put: "" }],
  },
  {
    name: "a claim believes a run is paused still", in: pause, kills: "a run that was paused and resumed meanwhile is claimed as what it is",
    edits: [{ file: `${runs}/claim-tail.ts`, find: "status = 'running', paused_from = null, waiting_on = null,", put: "status = 'running', waiting_on = null," }],
  },
  {
    name: "a paused run has no deadline", in: pause, kills: "a run that was paused meanwhile has passed its deadline all the same",
    edits: [{ file: `${runs}/enforce-deadlines.ts`, find: "r.status not in ('completed', 'failed', 'cancelled')", put: "r.status not in ('completed', 'failed', 'cancelled', 'paused')" }],
  },
  {
    name: "a dead holder's run is released over its pause", in: pause, kills: "a run whose pause was asked for meanwhile is paused instead of released",
    edits: [{ file: `${runs}/release-tail.ts`, find: "      when c.stop_requested = 'pause' then 'paused'\n", put: "" }],
  },
];
