import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { readConfig } from "@mainstay/config";
import { formatApiKey, scopes, type Scope } from "@mainstay/contract";
import {
  createAccept, createClaim, createDatabase, createFindKey, createHint, createKey, createProgress, pinWorkflow,
  registerWorkflows, type Database, type ProgressWrite,
} from "@mainstay/database";
import { defineWorkflow } from "@mainstay/sdk";
import { createLogger, createMetrics } from "@mainstay/telemetry";
import { createTestDatabase } from "@mainstay/testing";
import { z } from "zod";
import { createLogWatch } from "../src/events/create-log-watch.js";
import { createCursors } from "../src/pages/cursor.js";
import { createBackpressure } from "../src/runs/create-backpressure.js";
import { createServer } from "../src/server/create-server.js";
import { createWorkflowCatalogue } from "../src/workflows/create-workflow-catalogue.js";

/** Workflows that the tests create runs of. */
const workflows = [
  defineWorkflow({ id: "conformance-noop", version: "1", nodes: { noop: { type: "core.noop" } } }),
  defineWorkflow({
    id: "order", version: "1", input: z.object({ order: z.string().min(1), cents: z.number().int().optional() }),
    nodes: { noop: { type: "core.noop" } },
  }),
];

/** One api on a database of its own, and what a test needs to play client, operator and worker. */
export type TestApi = Awaited<ReturnType<typeof startApi>>;

/** Starts the real server on real Postgres. `env` overrides settings. */
export async function startApi(env: Record<string, string> = {}) {
  const owned = await createTestDatabase();
  const config = readConfig("api", { DATABASE_URL: owned.url, MAINSTAY_PORT: "0", MAINSTAY_BROKER: "none", ...env });
  const seen = new Map<string, number>();
  const database: Database = createDatabase({
    url: owned.url, applicationName: "api-test", poolSize: 5, statementTimeoutMs: 2_000, idleInTransactionMs: 1_000,
    onStatement: ({ name }) => seen.set(name, (seen.get(name) ?? 0) + 1),
  });
  await registerWorkflows(database, workflows.map(({ document }) => pinWorkflow(document, "default")));
  const stopping = new AbortController();
  const logWatch = createLogWatch(database, { pollMs: 500 });
  const hints: string[] = [];
  const hint = createHint(database);
  const app = await createServer({
    config,
    database,
    accept: createAccept(database, { dispatchBoundMs: 0, giveUpMs: 5_000 }),
    findKey: createFindKey(database, { giveUpMs: 5_000 }),
    hint: (channel) => { hints.push(channel); hint(channel); },
    workflows: createWorkflowCatalogue(database),
    backpressure: createBackpressure(database, { cap: config.acceptCap, workspaceCap: config.acceptCapWorkspace }),
    logWatch,
    cursors: createCursors("test"),
    health: { live: () => true, ready: () => !stopping.signal.aborted, started: () => true },
    logger: createLogger({ role: "api", incarnation: randomUUID(), level: "error" }),
    metrics: createMetrics({ role: "api" }),
    tracing: undefined,
    stopping: stopping.signal,
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${String((app.server.address() as AddressInfo).port)}`;

  async function makeKey(workspace: string, granted: readonly Scope[] = scopes, expiresInMs?: number): Promise<string> {
    const keyId = randomBytes(8).toString("hex");
    const secret = randomBytes(32).toString("base64url");
    await createKey(database, {
      keyId, workspace, name: "test", scopes: granted, secretHash: createHash("sha256").update(secret).digest("hex"),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    });
    return formatApiKey({ keyId, secret });
  }

  /** Claims a run as a worker would. */
  async function claim(runId: string) {
    const owner = randomUUID();
    const requires = [...new Set(workflows.map(({ document }) => pinWorkflow(document, "default").requires))];
    const answer = await createClaim(database, () => ({ incarnation: owner, requires, holding: 0, leaseMs: 3_000 }), { giveUpMs: 2_000 })({
      runId: runId.slice(runId.indexOf("/") + 1), claimId: randomUUID(),
    });
    if (answer.kind !== "claimed") throw new Error(`expected a claim, seen ${JSON.stringify(answer)}`);
    return { owner, run: answer.run };
  }

  /** Runs the one node of a claimed run and completes it. */
  async function complete({ owner, run }: Awaited<ReturnType<typeof claim>>, outputs: Record<string, unknown> = {}): Promise<void> {
    const progress = createProgress<ProgressWrite>(database, {
      keyOf: ({ runId }) => runId, merge: ([only]) => only, giveUpMs: 2_000,
    });
    const answer = await progress({
      runId: run.id, owner, fence: run.fence, writeId: randomUUID(), checkpoint: true, deadLetters: [],
      nodes: [{ node: "noop", status: "completed", attempts: 1, failures: 0, asks: 0, output: outputs }],
      events: [
        { type: "node.completed", nodeId: "noop", payload: { nodeId: "noop", outputs, durationMs: 1 } },
        { type: "run.completed", payload: { outputs } },
      ],
      nextNodes: [],
      move: { kind: "complete", outputs },
    });
    if (answer.kind !== "done") throw new Error(`expected done, seen ${answer.kind}`);
    logWatch.hint();
  }

  return {
    url, config, database, databaseUrl: owned.url, stopping, hints, logWatch, makeKey, claim, complete, statements: seen, app,
    async stop() {
      stopping.abort();
      await app.close();
      await database.end();
      await owned.drop();
    },
  };
}
