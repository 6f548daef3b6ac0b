import { createHash, randomBytes, randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createDatabase, createKey } from "@mainstay/database";
import { startFleet } from "@mainstay/fleet";
import { createTestDatabase, startOwnPostgres, startOwnRedis, startReceiver } from "@mainstay/testing";
import pg from "pg";
import { breakThings } from "./break-things.mjs";
import { judge } from "./judge.mjs";
import { seeded } from "./seeded.mjs";
import { submitLoad } from "./submit-load.mjs";
import { watchFleet } from "./watch-fleet.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" }, rate: { type: "string", default: "100" }, "kill-every": { type: "string", default: "5" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) }, quick: { type: "boolean", default: false }, json: { type: "string" },
  },
});
const minutes = Number(values.quick ? 0.6 : values.minutes);
const rate = Number(values.quick ? 30 : values.rate);
const killEveryMs = Number(values["kill-every"]) * 1_000;
for (const [name, value, most] of [["--minutes", minutes, 24 * 60], ["--rate", rate, 5_000], ["--kill-every", killEveryMs / 1_000, 3_600]]) {
  if (!(value > 0 && value <= most)) {
    console.error(`${name}: expected a number above 0 and at most ${most}`);
    process.exit(2);
  }
}

/** How often each fault comes, in milliseconds. */
const everyMs = values.quick ? { kill: 5_000, flush: 8_000, redis: 14_000, postgres: 20_000 }
  : { kill: killEveryMs, flush: 120_000, redis: 210_000, postgres: 330_000 };
const began = performance.now();
const tell = (line) => console.error(`${String(Math.round((performance.now() - began) / 1_000)).padStart(5)} s  ${line}`);
const random = seeded(Number(values.seed));
tell(`soak: ${minutes} min at ${rate} runs a second, a kill every ${killEveryMs / 1_000} s, seed ${values.seed}`);

const postgres = await startOwnPostgres();
const redis = await startOwnRedis();
const receiver = await startReceiver();
receiver.plan(() => ({ holdMs: random() * 60 }));
const database = await createTestDatabase({ serverUrl: postgres.url });
const folder = path.join(root, ".data/tests/soak");
fs.mkdirSync(folder, { recursive: true });
const ledger = path.join(folder, `${randomUUID()}.txt`);
fs.writeFileSync(ledger, "");
const key = await makeKey(database.url);
const pool = new pg.Pool({ connectionString: database.url, max: 2, application_name: "test" });
pool.on("error", () => undefined);
const sql = async (text, params = []) => (await pool.query(text, params)).rows;

const counts = { api: 2, relay: 2, workers: 4, supervisors: 2 };
const fleet = await startFleet({
  ...counts, logFolder: path.join(folder, "logs"),
  env: {
    PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "test", DATABASE_URL: database.url, REDIS_URL: redis.url, MAINSTAY_BROKER: "redis",
    MAINSTAY_WORKFLOWS: path.join(root, "tests/soak/workflows.mjs"), MAINSTAY_TEST_LEDGER: ledger, MAINSTAY_EGRESS_ALLOW: "127.0.0.0/8",
  },
});
/** One of each role lives through it all: what grows shows there. */
const spared = new Set(["api", "relay", "worker", "supervisor"].map((role) => fleet.of(role)[0].name));
const { recovery } = await (await fetch(`${fleet.apiUrl()}/ops/v1/bounds`, { headers: { authorization: `Bearer ${key}` } })).json();
const bounds = Object.fromEntries(recovery.map((one) => [one.class, one.bound]));
const boundMs = Math.max(bounds.accepted, bounds.dispatched, bounds.leased);
tell(`the fleet stands; bounds ${JSON.stringify(bounds)}; a run is late after ${boundMs} ms`);

const accepted = new Map();
const tallies = { kills: 0, killedByRole: {}, flushes: 0, redisKills: 0, postgresRestarts: 0, retried: 0, refused: [], late: [] };
const outages = [];
const stop = new AbortController();
const stopWatch = new AbortController();
const watching = watchFleet({ fleet, spared, sql, boundMs, everyMs: values.quick ? 2_000 : 10_000, outages, stopping: stopWatch.signal, tell, tallies });
const breaking = breakThings({ fleet, spared, postgres, redis, everyMs, outages, random, stopping: stop.signal, tell, tallies });
await submitLoad({ fleet, key, url: receiver.url, rate, forMs: minutes * 60_000, random, accepted, tallies });
stop.abort();
await breaking;
tell(`the load is over: ${accepted.size} accepted; waiting for the last runs to end`);
const giveUpAt = performance.now() + 120_000;
for (let open = 1; open > 0 && performance.now() < giveUpAt;) {
  await sleep(500);
  [{ open }] = await sql("select count(*)::int as open from runs where status not in ('completed', 'failed', 'cancelled')");
}
await sleep(values.quick ? 2_000 : 15_000); // the hot tables' vacuum comes round
stopWatch.abort();
const samples = await watching;
const claims = await judge({
  accepted, sql, receiver, ledger, samples, tallies, fleet, budget: (counts.api + counts.relay + counts.workers + counts.supervisors + 1) * 9,
});
await fleet.stop();
await pool.end();
await receiver.stop();
await redis.stop();
await postgres.stop();
for (const { name, ok, seen } of claims) console.log(`${ok ? "ok      " : "BROKEN  "} ${name}: ${seen}`);
console.log(`${accepted.size} runs in ${minutes} min; ${tallies.kills} kills ${JSON.stringify(tallies.killedByRole)}, ${tallies.flushes} flushes, ${tallies.redisKills} kills of Redis, ${tallies.postgresRestarts} restarts of Postgres; seed ${values.seed}`);
if (values.json !== undefined) fs.writeFileSync(values.json, `${JSON.stringify({ minutes, rate, seed: values.seed, claims, tallies, samples }, undefined, 1)}\n`);
const failed = claims.filter(({ ok }) => !ok).length;
if (failed === 0) fs.rmSync(ledger, { force: true });
console.log(`${claims.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function makeKey(url) {
  const db = createDatabase({ url, applicationName: "test", poolSize: 1, statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 });
  const [keyId, secret] = [randomBytes(8).toString("hex"), randomBytes(32).toString("base64url")];
  await createKey(db, {
    keyId, workspace: "soak", name: "soak", scopes: ["runs:create", "runs:read", "runs:cancel", "ops:read"],
    secretHash: createHash("sha256").update(secret).digest("hex"),
  });
  await db.end();
  return `mst_${keyId}_${secret}`;
}
