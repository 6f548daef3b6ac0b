import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createTicketConsumer, type TicketConsumer } from "@mainstay/broker";
import { createAccept, createDatabase, createHint, mintRunId, pinWorkflow, registerWorkflows, type Database } from "@mainstay/database";
import { conformanceFixtures } from "@mainstay/domain";
import { launchProcess, type FleetProcess } from "@mainstay/fleet";
import { createTestDatabase, startOwnRedis, until, type OwnRedis, type TestDatabase } from "@mainstay/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

const entry = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const prefix = "{relay-process}";
const [document] = conformanceFixtures;
if (document === undefined) throw new Error("expected a fixture to run");
const pinned = pinWorkflow(document, "default");

let testDatabase: TestDatabase;
let redis: OwnRedis;
let db: Database;
const processes: FleetProcess[] = [];
const consumers: TicketConsumer[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  redis = await startOwnRedis();
  db = createDatabase({ url: testDatabase.url, applicationName: "relay-process-test", poolSize: 3, statementTimeoutMs: 2_000, idleInTransactionMs: 1_000 });
  await registerWorkflows(db, [pinned]);
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => one.kill("SIGKILL")));
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
});
afterAll(async () => {
  await db.end();
  await redis.stop();
  await testDatabase.drop();
});

async function launch(env: Record<string, string> = {}): Promise<FleetProcess> {
  const launched = await launchProcess({
    role: "relay", entry, env: { DATABASE_URL: testDatabase.url, REDIS_URL: redis.url, MAINSTAY_BROKER_PREFIX: prefix, MAINSTAY_RELAY_POLL_MS: "5000", ...env },
  });
  processes.push(launched);
  return launched;
}

async function acceptRun(): Promise<string> {
  const id = mintRunId();
  const accept = createAccept(db, { dispatchBoundMs: 2_000, giveUpMs: 5_000 });
  await accept({
    id, workspace: "w", workflowId: pinned.document.id, specHash: pinned.specHash, pool: "default", requires: pinned.requires,
    input: "{}", inputDigest: createHash("sha256").update("{}").digest("hex"), subject: {},
    nextNodes: pinned.document.nodes.slice(0, 1).map((node) => ({ id: node.id, typeId: node.typeId })),
  });
  createHint(db)("dispatch");
  return id;
}

function listen(): string[] {
  const taken: string[] = [];
  consumers.push(createTicketConsumer({
    url: redis.url, prefix, pool: "default", commandTimeoutMs: 500, freeSlots: () => 1_000,
    onTicket: async (runIds) => { taken.push(...runIds); }, onBadTicket: () => undefined,
  }));
  return taken;
}

test("an accepted run rings through a relay process, woken by the hint, and SIGTERM ends it with 0", async () => {
  const taken = listen();
  const relay = await launch();
  const warmUp = await acceptRun();
  await until("the first rang", () => taken.includes(warmUp), 8_000);
  const from = performance.now();
  const id = await acceptRun();
  await until("the second rang", () => taken.includes(id), 4_000);
  expect(performance.now() - from).toBeLessThan(2_000);

  const metrics = await (await fetch(`${relay.url}/metrics`)).text();
  expect(metrics).toContain("mainstay_broker_up 1");
  expect(metrics).toContain('mainstay_outbox_published_total{topic="dispatch"} 2');
  expect(metrics).toMatch(/mainstay_build_info\{version="\d+\.\d+\.\d+",commit="unknown",schema_version="\d{4}_\w+"\} 1/);
  expect((await fetch(`${relay.url}/health/live`)).status).toBe(200);
  expect(await relay.kill("SIGTERM")).toEqual({ code: 0, signal: null });
});

test("without Redis the relay is ready and says that it is degraded", async () => {
  const relay = await launch({ REDIS_URL: "redis://127.0.0.1:1" });
  const answer = await fetch(`${relay.url}/health/ready`);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("the broker is away")]);
  expect(await relay.kill("SIGTERM")).toEqual({ code: 0, signal: null });
});

test("brokerless the relay is ready, empties the outbox and says so", async () => {
  const relay = await launch({ MAINSTAY_BROKER: "none", REDIS_URL: "", MAINSTAY_RELAY_POLL_MS: "100" });
  expect(relay.lines().some(({ event }) => event?.["msg"] === "running without a broker")).toBe(true);
  await acceptRun();
  await until("the outbox is empty", async () => {
    const [row] = await db.query<{ count: number }>({ name: "test.count", text: "select count(*)::int as count from outbox", plan: "custom" } as never, []);
    return row?.count === 0;
  }, 5_000);
  expect(await relay.kill("SIGTERM")).toEqual({ code: 0, signal: null });
});

test("a relay that was killed is followed by the next one, which publishes what is left", async () => {
  const taken = listen();
  const first = await launch();
  await first.kill("SIGKILL");
  const id = await acceptRun();
  await launch({ MAINSTAY_RELAY_POLL_MS: "200" });
  await until("the run rang", () => taken.includes(id), 5_000);
});

test("a wrong setting ends the process with a message that names it", async () => {
  await expect(launch({ MAINSTAY_LEASE_MS: "10" })).rejects.toThrow("MAINSTAY_LEASE_MS");
});
