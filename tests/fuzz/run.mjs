import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { createDatabase, createKey } from "@mainstay/database";
import { startFleet } from "@mainstay/fleet";
import { createTestDatabase, until } from "@mainstay/testing";
import pg from "pg";
import { judgeAnswer } from "./judge-answer.mjs";
import { makeRequests } from "./make-request.mjs";
import { readApi } from "./read-api.mjs";
import { sendRequest } from "./send-request.mjs";

const { values } = parseArgs({ options: {
  requests: { type: "string", default: "5000" }, seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) }, only: { type: "string" }, quick: { type: "boolean", default: false },
} });
const count = Number(values.quick ? 400 : values.requests);
const seed = Number(values.seed);
for (const [name, value] of [["--requests", count], ["--seed", seed], ["--only", Number(values.only ?? 0)]]) {
  if (!Number.isInteger(value) || value < 0) {
    console.error(`${name}: expected a whole number, at least 0`);
    process.exit(2);
  }
}
const ANSWER_WITHIN_MS = 10_000;
const LANES = 12;

const root = fileURLToPath(new URL("../..", import.meta.url));
const database = await createTestDatabase();
const logFolder = path.join(root, ".data/tests/fuzz/logs");
fs.rmSync(logFolder, { recursive: true, force: true });
const fleet = await startFleet({
  api: 1, relay: 0, workers: 1, supervisors: 0, logFolder,
  env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "test", DATABASE_URL: database.url, MAINSTAY_BROKER: "none", MAINSTAY_ACCEPT_CAP: "1000000" },
});
const pool = new pg.Pool({ connectionString: database.url, max: 2, application_name: "test" });
pool.on("error", () => undefined);

/** A key of a workspace, and what an honest client of it does. */
async function openWorkspace(workspace) {
  const keyId = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const scopes = ["runs:create", "runs:read", "runs:cancel", "manifest:read", "ops:read", "ops:admin"];
  const db = createDatabase({ url: database.url, applicationName: "test", poolSize: 1, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 });
  await createKey(db, { keyId, workspace, name: "fuzz", scopes, secretHash: createHash("sha256").update(secret).digest("hex") });
  await db.end();
  const key = `mst_${keyId}_${secret}`;
  const create = async (body) => {
    const response = await fetch(`${fleet.apiUrl()}/runs`, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(`a run was expected to be accepted: ${String(response.status)} ${await response.text()}`);
    return (await response.json()).runId;
  };
  return { key, create };
}

const statusOf = async (runId) => (await pool.query("select status from runs where id = $1", [runId.split("/")[1]])).rows[0]?.status;
const ended = (runId) => until(`${runId} to end`, async () => ["completed", "failed", "cancelled"].includes(await statusOf(runId)), 20_000);
const claims = { passed: 0, failed: 0 };
const claim = (holds, what) => {
  claims[holds ? "passed" : "failed"] += 1;
  console.error(`${holds ? "  ok  " : "FAILED"} ${what}`);
};

try {
  const alpha = await openWorkspace("alpha");
  const beta = await openWorkspace("beta");
  const foreign = [(await beta.create({ workflowId: "conformance-noop", tags: ["of-beta-alone"] })).split("/")[1], "of-beta-alone"];
  const runs = [await alpha.create({ workflowId: "conformance-noop" }), await alpha.create({ workflowId: "conformance-failure" }), await alpha.create({ workflowId: "conformance-delay", inputs: { delayMs: 30_000 } })];
  await Promise.all(runs.slice(0, 2).map(ended));
  const api = await readApi(fleet.apiUrl());
  const requests = makeRequests({ operations: api.operations, key: alpha.key, runIds: runs.map((runId) => runId.replace("/", "~2F")) });
  const requestOf = (index) => fc.sample(requests, { seed: seed * 100_003 + index, numRuns: 1 })[0];
  console.error(`fuzz: ${String(count)} requests to ${String(api.operations.length)} operations, seed ${String(seed)}`);

  const tally = { sent: 0, statuses: new Map(), accepted: [], faulty: 0 };
  const port = Number(new URL(fleet.apiUrl()).port);
  const play = async (index) => {
    const request = requestOf(index);
    const answer = await sendRequest({ port, bytes: request.bytes, framing: request.framing, withinMs: ANSWER_WITHIN_MS });
    const faults = judgeAnswer({ request, answer, api, foreign });
    tally.sent += 1;
    tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status === 201) tally.accepted.push(JSON.parse(answer.body).runId);
    if (faults.length > 0 || values.only !== undefined) {
      tally.faulty += faults.length > 0 ? 1 : 0;
      console.error(`\n${faults.join("; ") || "nothing is wrong"}\n  ${request.operation.operationId}, ${request.framing}; again: npm run test:fuzz -- --seed ${String(seed)} --only ${String(index)}\n${shown(request.bytes)}\n  → ${String(answer.status)} ${answer.body.slice(0, 300)}`);
    }
    if (tally.sent % 1_000 === 0) console.error(`${String(tally.sent)} of ${String(count)}, ${String(tally.faulty)} faulty`);
  };
  const queue = values.only === undefined ? Array.from({ length: count }, (_, index) => index) : [Number(values.only)];
  await Promise.all(Array.from({ length: LANES }, async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) await play(index);
  }));

  console.error(`answers: ${[...tally.statuses].sort(([a], [b]) => (a ?? 0) - (b ?? 0)).map(([status, times]) => `${String(status ?? "none")} × ${String(times)}`).join(", ")}`);
  claim(tally.faulty === 0, `each of ${String(tally.sent)} answers is as described`);
  const { rows: [known] } = await pool.query("select count(*)::int as count from runs where id = any($1::uuid[])", [tally.accepted.map((runId) => runId.split("/")[1])]);
  claim(known.count === new Set(tally.accepted).size, `${String(known.count)} runs that were answered with 201 are stored`);
  const last = await alpha.create({ workflowId: "conformance-noop" });
  claim(await ended(last).then(async () => (await statusOf(last)) === "completed", () => false), "a fresh run completes");
  claim(Object.keys(fleet.deaths()).length === 0, "no process has ended");
  const odd = fleet.processes().flatMap((one) => one.lines()).filter(({ text, event }) => (event === undefined ? /warning|error|unhandled/i.test(text) : Number(event.level) >= 60 || /unhandled|uncaught/i.test(String(event.msg))));
  claim(odd.length === 0, `no log tells of an unhandled error${odd.length === 0 ? "" : `: ${odd[0].text.slice(0, 300)}`}`);
  if (values.only === undefined) claim((tally.statuses.get(201) ?? 0) > 0 && (tally.statuses.get(400) ?? 0) > 0, "some requests were good and some were not");
} finally {
  await pool.end();
  await fleet.stop({ withinMs: 5_000 });
  await database.drop();
}
console.log(`${String(claims.passed)} passed, ${String(claims.failed)} failed`);
process.exit(claims.failed === 0 ? 0 : 1);

/** The head of a request as text, long ones cut. */
function shown(bytes) {
  const text = bytes.toString("latin1").replace(/Bearer mst_\S+/g, "Bearer mst_…");
  return (text.length > 1_200 ? `${text.slice(0, 1_200)}… (${String(bytes.length)} bytes)` : text).split("\r\n").map((line) => `  | ${line.slice(0, 300)}`).join("\n");
}
