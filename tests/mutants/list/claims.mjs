const runs = "packages/database/src/runs";
const pause = "packages/database/test/pause/pause.integration.test.ts";
const endings = "packages/database/test/runs/endings.integration.test.ts";
const releases = "packages/database/test/runs/releases.integration.test.ts";
const claimTail = `${runs}/claim-tail.ts`;

/** Guards of claims and of what a claim writes before any code runs. */
export const claims = [
  {
    name: "no status guard in a claim", in: pause, kills: "a run that ended meanwhile never runs again",
    edits: [{ file: claimTail, find: "l.owner is null and l.status in ('pending', 'running', 'waiting-external') and ", put: "l.owner is null and " }],
  },
  {
    name: "no owner guard in a claim", in: pause, kills: "a run that another worker claimed meanwhile is refused",
    edits: [{ file: claimTail, find: "where l.owner is null and l.status in", put: "where l.status in" }],
  },
  {
    name: "no due time in a claim", in: endings, kills: "a claim is refused for what is unknown, not due",
    edits: [{ file: claimTail, find: "and l.due_at <= now() and l.requires", put: "and l.requires" }],
  },
  {
    name: "no requirement in a claim", in: endings, kills: "a claim is refused for what is unknown, not due, not served",
    edits: [{ file: claimTail, find: "and l.requires = any(me.requires) and", put: "and" }],
  },
  {
    name: "no isolation in a claim", in: releases, kills: "a second shared death without a checkpoint isolates",
    edits: [{ file: claimTail, find: "(l.cohort_limit is null or l.cohort_limit >= me.room)", put: "true" }],
  },
  {
    name: "a lapsed incarnation claims", in: releases, kills: "an incarnation that has lapsed claims nothing more",
    edits: [{ file: claimTail, find: "    and not me.gone\n", put: "" }],
  },
  {
    name: "attempt after the node: the claim does not tell node.started", in: endings, kills: "a claim writes owner, fence, attempt and node.started",
    edits: [{ file: claimTail, find: "  where not b.continued\n", put: "  where false\n" }],
  },
  {
    name: "attempt after the node: code begins before the write that counts it", in: "apps/worker/test/execution.integration.test.ts", kills: "a node's attempt stands in the database before its code runs",
    edits: [
      { file: "apps/worker/src/runs/execute-runs.ts", find: "    } else for (const one of start) launch(run, one); // they are told as begun: a pause lets them finish\n", put: "    }\n" },
      { file: "apps/worker/src/runs/execute-runs.ts", find: "      return merged.write;\n", put: "      for (const one of merged.start) launch(run, one);\n      return merged.write;\n" },
    ],
  },
  {
    name: "a repeated claim is not recognised", in: "packages/database/test/batch/lost-replies.integration.test.ts", kills: "a claim whose reply was lost",
    edits: [{ file: `${runs}/claim.ts`, find: "    when l.owner = me.owner and l.claim_id = i.claim_id then 'claimed_before'\n", put: "" }],
  },
  {
    name: "no outbox row in accept", in: "packages/database/test/runs/acceptance.integration.test.ts", kills: "every accepted run has its ticket in the outbox",
    edits: [{ file: `${runs}/accept.ts`, find: "insert into outbox (run_id, pool) select id, pool from born", put: "select from born" }],
  },
  {
    name: "no holdings audit", in: "apps/worker/test/audit.integration.test.ts", kills: "a run whose claim was never heard of is handed back",
    edits: [{ file: "apps/worker/src/claiming/audit-loop.ts", find: "if (mislaid.length === 0) return;", put: "if (mislaid.length >= 0) return;" }],
  },
];
