import { createHash, randomUUID } from "node:crypto";
import { beginIncarnation, createAccept, createDatabase, createLaunch, createSettle, mintRunId, pinWorkflow, registerWorkflows, sweepRuns, type Database, type ProgressWrite, type Queryable } from "@mainstay/database";
import { firstNodes, type WorkflowDocument } from "@mainstay/domain";
import { createEgress } from "@mainstay/egress";
import type { Workflow } from "@mainstay/sdk";
import { createTestDatabase, until } from "@mainstay/testing";
import { createExecuteRuns, type ExecuteRuns } from "../src/runs/execute-runs.js";
import type { HeldRun } from "../src/runs/held-run.js";
import { createHeldRuns, type HeldRuns } from "../src/runs/held-runs.js";
import type { KnownWorkflow, KnownWorkflows } from "../src/workflows/known-workflows.js";

/** A place for workers in this process: one database, the definitions, and plain reads of what is stored. */
export type Place = {
  readonly db: Database;
  readonly sql: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly workflows: KnownWorkflows;
  readonly accept: (workflowId: string, input?: unknown) => Promise<string>;
  /** Waits for the end of a run, answers its status. */
  readonly ended: (runId: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** What the tests of one worker need of it. */
export type TestWorker = {
  readonly incarnation: string;
  readonly held: HeldRuns;
  readonly runs: ExecuteRuns;
  /** Claims what is due and begins it. */
  readonly sweep: () => Promise<number>;
  /** Every write that was acknowledged, in order. */
  readonly acknowledged: { runId: string; write: ProgressWrite }[];
  readonly fenced: string[];
};

const GIVE_UP_MS = 20_000;

/** Opens a database with these definitions registered. */
export async function openPlace(definitions: readonly { document: WorkflowDocument; workflow?: Workflow }[]): Promise<Place> {
  const database = await createTestDatabase();
  const db = createDatabase({ url: database.url, applicationName: "worker-test", poolSize: 5, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 });
  const pinned = definitions.map(({ document, workflow }) => ({ ...pinWorkflow(document, "default"), workflow }));
  await registerWorkflows(db, pinned);
  const bySpec = new Map<string, KnownWorkflow>(pinned.map(({ specHash, document, workflow }) =>
    [specHash, { document, byId: new Map(document.nodes.map((node) => [node.id, node])), ...(workflow === undefined ? {} : { workflow }) }]));
  const accept = createAccept(db, { dispatchBoundMs: 0, giveUpMs: GIVE_UP_MS });
  const sql = <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => db.query<Row>({ name: "test.read", text, plan: "custom" }, values);
  return {
    db, sql,
    workflows: { requires: () => [...new Set(pinned.map(({ requires }) => requires))], refresh: () => Promise.resolve(), find: (specHash) => Promise.resolve(bySpec.get(specHash)) },
    accept: async (workflowId, input = {}) => {
      const found = pinned.find(({ document }) => document.id === workflowId);
      if (found === undefined) throw new Error(`no workflow ${workflowId}`);
      const { document, specHash, requires } = found;
      const text = JSON.stringify(input);
      const first = firstNodes(document.nodes);
      const id = mintRunId();
      await accept({
        id, workspace: "acme", workflowId, specHash, pool: "default", requires, input: text, inputDigest: createHash("sha256").update(text).digest("hex"), subject: {},
        nextNodes: document.nodes.filter((node) => first.includes(node.id)).map(({ id: node, typeId }) => ({ id: node, typeId })),
      });
      return id;
    },
    ended: (runId) => until(`run ${runId} to end`, async () => {
      const [row] = await sql<{ status: string; waiting_on: string | null }>("select status, waiting_on from runs where id = $1 and finished_at is not null", [runId]);
      return row?.status;
    }, 15_000),
    close: async () => {
      await db.end();
      await database.drop();
    },
  };
}

/** One worker of real parts, without a broker and without clocks: tests sweep and audit by hand. */
export async function openWorker(place: Place, { db = place.db, slots = 50, jitter = 1 }: { db?: Queryable; slots?: number; jitter?: number } = {}): Promise<TestWorker> {
  const incarnation = randomUUID();
  await beginIncarnation(place.db, { id: incarnation, role: "worker", pool: "default", host: "test", version: "1", leaseMs: 60_000 });
  const held = createHeldRuns(slots);
  const acknowledged: TestWorker["acknowledged"] = [];
  const fenced: string[] = [];
  const batch = { giveUpMs: GIVE_UP_MS };
  const runs = createExecuteRuns({
    db, held, workflows: place.workflows, batch,
    settings: { retentionDays: 30, jitter: () => jitter, resultMaxBytes: 1_048_576, holdShortWaitsMs: 250, draining: () => false },
    nodes: {
      effects: {
        db, life: { incarnation: () => incarnation, attest: () => undefined, validUntil: () => Number.POSITIVE_INFINITY }, launch: createLaunch(db, batch), settle: createSettle(db, batch),
        effectMarginMs: 0, sendGraceMs: 2_000, onSettled: () => undefined, onContradicted: () => undefined, onAsked: () => undefined, onFenced: (op) => { fenced.push(op); },
      },
      egress: createEgress({ allow: ["127.0.0.0/8"] }), outputMaxBytes: 256 * 1024, runOutputMaxBytes: 64 * 256 * 1024, log: () => undefined, onUnclassified: () => undefined, refuseInput: () => Promise.resolve(undefined),
    },
    onStored: (run: HeldRun, write) => { acknowledged.push({ runId: run.id, write }); },
    onExecuted: () => undefined, onFenced: (op) => { fenced.push(op); },
    onError: (error) => { throw error; },
  });
  return {
    incarnation, held, runs, acknowledged, fenced,
    sweep: async () => {
      const claimed = await sweepRuns(place.db, { incarnation, requires: place.workflows.requires(), holding: held.byId.size, leaseMs: 60_000 }, Array.from({ length: 20 }, () => randomUUID()));
      for (const run of claimed) void runs.begin(run, incarnation);
      return claimed.length;
    },
  };
}
