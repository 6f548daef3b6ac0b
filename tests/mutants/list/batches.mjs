const progress = "packages/database/src/runs/progress.ts";
const pause = "packages/database/test/pause/pause.integration.test.ts";
const lost = "packages/database/test/batch/lost-replies.integration.test.ts";

const isolation = "apps/worker/test/isolation.integration.test.ts";

/** Guards of a holder's writes and of batches. */
export const batches = [
  {
    name: "an isolated run is begun in any company", in: isolation, kills: "of two claims under way at once for isolated runs only one is begun",
    edits: [{ file: "apps/worker/src/runs/execute-runs.ts", find: "if (!held.admits(claimed)) throw", put: "if (false) throw" }],
  },
  {
    name: "a claim lets its slot go before its run stands there", in: isolation, kills: "the slot of a claim stays reserved until its run stands in it",
    edits: [{ file: "apps/worker/src/claiming/take-ticket.ts", find: "if (beginning === undefined) held.unreserve(1);", put: "if (beginning === undefined || beginning !== undefined) held.unreserve(1);" }],
  },
  {
    name: "a wait is due whatever has become of it", in: "apps/worker/src/runs/merge-settlements.test.ts", kills: "a wait that is told due twice, or was overtaken by an execution",
    edits: [{ file: "apps/worker/src/runs/merge-settlements.ts", find: "if (isWaiting(run.nodes.get(settlement.node)) && !due.includes(settlement.node)) due.push(settlement.node);", put: "due.push(settlement.node);" }],
  },
  {
    name: "a drain plans a run whose nodes are not known yet", in: "apps/worker/test/execution.integration.test.ts", kills: "a drain or a cancel that comes before a run's nodes are known",
    edits: [{ file: "apps/worker/src/runs/execute-runs.ts", find: "if (run.begun && run.executions.size === 0)", put: "if (run.executions.size === 0)" }],
  },
  {
    name: "a peer is doubted before it could have come back", in: "packages/database/test/incarnations/doubt.integration.test.ts", kills: "a peer without sessions is doubted only once it has beaten",
    edits: [{ file: "packages/database/src/incarnations/doubt.ts", find: "\n    or (select count(*) = 0 from back) as connected,", put: " as connected," }],
  },
  {
    name: "no fence in progress", in: pause, kills: "a holder that lost the run meanwhile writes nothing under its old fence",
    edits: [{ file: progress, find: "where l.owner = i.owner and l.fence = i.fence and l.status = 'running' and l.write_id", put: "where l.status = 'running' and l.write_id" }],
  },
  {
    name: "the fence alone is not compared", in: "packages/database/test/runs/transitions.integration.test.ts", kills: "a holder's verbs are refused under every fence but the current one",
    edits: [{ file: progress, find: "where l.owner = i.owner and l.fence = i.fence and l.status = 'running' and l.write_id", put: "where l.owner = i.owner and l.status = 'running' and l.write_id" }],
  },
  {
    name: "no skip-locked in progress", in: "packages/database/test/batch/contention.integration.test.ts", kills: "a row that another session keeps locked for seconds delays no neighbour",
    edits: [{ file: progress, find: "where r.id = i.id for no key update skip locked) r\n), admitted", put: "where r.id = i.id for no key update) r\n), admitted" }],
  },
  {
    name: "no merge by run in a batch", in: "apps/worker/test/execution.integration.test.ts", kills: "fifty nodes that end in one tick become one write",
    edits: [{ file: "apps/worker/src/runs/execute-runs.ts", find: "keyOf: ({ run }) => `${run.id}/${run.fence}`,", put: "keyOf: () => `${performance.now()}/${Math.random()}`," }],
  },
  {
    name: "no merge by run in a claim batch", in: "packages/database/test/runs/endings.integration.test.ts", kills: "two tickets that name one run in the same flush yield one claim",
    edits: [{ file: "packages/database/src/runs/claim.ts", find: "keyOf: ({ runId }) => runId,", put: "keyOf: ({ claimId }) => claimId," }],
  },
  {
    name: "a repeated checkpoint is written again", in: lost, kills: "a checkpoint whose reply was lost",
    edits: [{ file: progress, find: " and l.write_id is distinct from i.write_id\n", put: "\n" }],
  },
  {
    name: "a repeated ending is not recognised", in: lost, kills: "an ending whose reply was lost",
    edits: [{ file: progress, find: "when m.id is not null or l.write_id = i.write_id then 'done'", put: "when m.id is not null then 'done'" }],
  },
  {
    name: "a completion passes a cancel by", in: pause, kills: "a cancel asked for meanwhile comes before the completion",
    edits: [{ file: progress, find: "and not (i.move in ('complete', 'fail', 'park') and l.stop_requested is not distinct from 'cancel')", put: "" }],
  },
  {
    name: "parking does not look at the inbox", in: pause, kills: "a wake-up that came meanwhile makes the parked run due at once",
    edits: [{ file: progress, find: "case when inbox_seq is distinct from seen_inbox then 0 else coalesce(due_ms, 0) end as wait_ms", put: "coalesce(due_ms, 0) as wait_ms" }],
  },
  {
    name: "a halved batch takes its neighbours along", in: "packages/database/test/runs/acceptance.integration.test.ts", kills: "one run that cannot be stored fails alone",
    edits: [{ file: "packages/database/src/batch/create-group-commit.ts", find: "else if (batch.length === 1 && only !== undefined) fail(only, error);", put: "else if (only !== undefined) for (const entry of batch) fail(entry, error);" }],
  },
  {
    name: "a row is isolated over the head of who has it", in: pause, kills: "a row that another relay took meanwhile is left to it",
    edits: [{ file: "packages/database/src/outbox/isolate.ts", find: " and o.taken_by = i.taken_by and o.tries", put: " and o.tries" }],
  },
  {
    name: "a row is isolated at its first refusal", in: "apps/relay/test/outbox.integration.test.ts", kills: "one row that the broker never takes",
    edits: [{ file: "packages/database/src/outbox/isolate.ts", find: " and o.tries >= i.most_tries\n", put: "\n" },
      { file: "apps/relay/src/outbox/publish-batch.ts", find: "if (tries >= mostTries)", put: "if (tries >= 1)" }],
  },
  {
    name: "a refused publication is not halved", in: "apps/relay/test/outbox.integration.test.ts", kills: "one row that the broker never takes",
    edits: [{ file: "apps/relay/src/outbox/publish-pool.ts", find: "else if (!back || performance.now() > endAt)", put: "else if (part.length > 0)" }],
  },
];
