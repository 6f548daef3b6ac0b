import { createHash } from "node:crypto";
import { createAccept, findCurrentWorkflows, mintRunId, type NewRun, type Queryable } from "@mainstay/database";
import { firstNodes } from "@mainstay/domain";
import pg from "pg";

/** A session that accepts runs as the api does, but inside a transaction that stays open until it is told to end. */
export type InsertPath = Readonly<{
  /** Begins a transaction and inserts a run with its outbox row; answers the run's uuid. */
  insert: (input?: Readonly<Record<string, unknown>>) => Promise<string>;
  commit: () => Promise<void>;
  rollBack: () => Promise<void>;
  close: () => Promise<void>;
}>;

/** Opens one for a registered workflow. The fleet hears nothing of a commit: no hint follows it. */
export async function openInsertPath(databaseUrl: string, { workflowId, dispatchBoundMs, change = {} }: {
  workflowId: string;
  dispatchBoundMs: number;
  /** Laid over each run. */
  change?: Partial<NewRun>;
}): Promise<InsertPath> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "insert path" });
  await client.connect();
  await client.query("set idle_in_transaction_session_timeout = 0");
  const session: Queryable = { query: async <Row>({ text }: { text: string }, values: readonly unknown[]) => (await client.query(text, [...values])).rows as Row[] };
  const [workflow] = await findCurrentWorkflows(session, [workflowId]);
  if (workflow === undefined) throw new Error(`no workflow ${workflowId} is registered`);
  const { nodes } = workflow.document;
  const first = new Set(firstNodes(nodes));
  const accept = createAccept(session, { dispatchBoundMs, giveUpMs: 10_000 });
  return {
    async insert(input = {}) {
      await client.query("begin");
      const text = JSON.stringify(input);
      const run: NewRun = {
        id: mintRunId(), workspace: "test", workflowId, specHash: workflow.specHash, pool: workflow.pool, requires: workflow.requires,
        input: text, inputDigest: createHash("sha256").update(text).digest("hex"), subject: { issuer: "urn:mainstay:api-key", subjectId: "test", tenant: "test", lane: "api-key", kind: "workload" },
        nextNodes: nodes.filter(({ id }) => first.has(id)).map(({ id, typeId }) => ({ id, typeId })), ...change,
      };
      const answer = await accept(run);
      if (answer.kind !== "created") throw new Error(`expected the run to be created, it is ${answer.kind}`);
      return run.id;
    },
    commit: async () => { await client.query("commit"); },
    rollBack: async () => { await client.query("rollback"); },
    close: () => client.end(),
  };
}
