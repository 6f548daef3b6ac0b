import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@mainstay/sdk";
import { startReceiver, startTestFleet, until, type Receiver, type TestFleet } from "@mainstay/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStanding } from "./check-standing.js";
import { startStandingWatch } from "./start-standing-watch.js";
import type { Watched } from "./watched.js";

let fleet: TestFleet;
let receiver: Receiver;
let runId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  fleet = await startTestFleet({ broker: "none", workers: 1, workflows: fileURLToPath(new URL("../load/probe-workflows.mjs", import.meta.url)), env: { MAINSTAY_TEST_LEDGER: "/dev/null" } });
  runId = (await createClient({ url: fleet.apiUrl(), key: fleet.key }).runs.create("probe-order", { url: receiver.url })).runId;
  await fleet.waitEnded([runId]);
  await until("the outbox to be empty", async () => (await fleet.sql("select 1 from outbox")).length === 0);
  await Promise.all(fleet.fleet.of("relay").map((one) => one.kill("SIGTERM")));
}, 60_000);
afterAll(async () => {
  await fleet.stop();
  await receiver.stop();
});

const bare = () => runId.slice(runId.indexOf("/") + 1);
const check = (over: Partial<Watched> = {}) => checkStanding({ fleet, receivers: [receiver], accepted: () => [runId], begun: () => [], canaries: ["canary-of-this-test"], except: {}, settleMs: 500, ...over });
/** Spoils the data, expects the check to say so, mends it, and expects it to be content again. */
async function spoiled(fault: RegExp, spoil: () => Promise<unknown>, mend: () => Promise<unknown>): Promise<void> {
  await spoil();
  try {
    await expect(check()).rejects.toThrow(fault);
  } finally {
    await mend();
  }
}

test("they are content with a fleet that did its work", async () => {
  await check();
});

test("accepted: a run that nobody knows is found", async () => {
  await expect(check({ accepted: () => [`test/${randomUUID()}`] })).rejects.toThrow(/accepted: .* is not there/);
});

test("terminal: an end that changed is found", async () => {
  const watch = startStandingWatch(fleet.sql);
  try {
    await watch.look();
    await check({ watch });
    await fleet.sql("update runs set finished_at = finished_at + interval '1 ms' where id = $1", [bare()]);
    await expect(check({ watch })).rejects.toThrow(/terminal: .* ended as/);
  } finally {
    await watch.stop();
  }
});

test("log: a gap in the numbers is found", async () => {
  await spoiled(/log: /, () => fleet.sql("update run_events set seq = 1000 where run_id = $1 and seq = 2", [bare()]),
    () => fleet.sql("update run_events set seq = 2 where run_id = $1 and seq = 1000", [bare()]));
});

test("log: an event that the contract does not know so is found", async () => {
  await spoiled(/log: .* (event 1 run\.started: payload|is answered with)/, () => fleet.sql("update run_events set payload = payload || '{\"engineVersion\": \"two\"}' where run_id = $1 and type = 'run.started'", [bare()]),
    () => fleet.sql("update run_events set payload = payload || '{\"engineVersion\": 1}' where run_id = $1 and type = 'run.started'", [bare()]));
});

test("fences: a fence that falls, and an execution twice under one, are found", async () => {
  await spoiled(/fences: .* does not rise/, () => fleet.sql("update run_events set fence = fence + 10 where run_id = $1 and seq = 1", [bare()]),
    () => fleet.sql("update run_events set fence = fence - 10 where run_id = $1 and seq = 1", [bare()]));
  const [one] = await fleet.executions();
  if (one === undefined) throw new Error("nothing was executed");
  const begun = { ...one, pid: 1 };
  await expect(check({ begun: () => [begun, begun] })).rejects.toThrow(/fences: .* was executed twice/);
});

test("effects: one that was accepted twice is found", async () => {
  await expect(check({ receivers: [{ ...receiver, accepted: () => new Map([["an order", 2]]) }] })).rejects.toThrow(/effects: an order was accepted 2 times/);
});

test("outbox: a row that nobody publishes is found", async () => {
  await spoiled(/outbox: 1 rows/, () => fleet.sql("insert into outbox (run_id, pool, due_at) values ($1, 'default', now())", [bare()]), () => fleet.sql("delete from outbox"));
});

test("processes: one that ended unasked is found", async () => {
  const [first] = fleet.fleet.processes();
  if (first === undefined) throw new Error("the fleet has no process");
  const ended = { ...first, exit: () => ({ code: 1, signal: null }), asked: () => [] };
  await expect(check({ fleet: { ...fleet, fleet: { ...fleet.fleet, processes: () => [ended] } } })).rejects.toThrow(/processes: .* ended by itself with status 1/);
});

test("sessions: more than the processes may have, and one idle in a transaction, are found", async () => {
  const watch = startStandingWatch(fleet.sql);
  const many = Array.from({ length: 40 }, () => new pg.Client({ connectionString: fleet.databaseUrl, application_name: "mainstay-worker" }));
  await Promise.all(many.map((client) => client.connect()));
  const [first] = many;
  await first?.query("begin");
  try {
    await expect(check()).rejects.toThrow(/sessions: \d+ sessions of/);
    await until("the watch to see the idle transaction", async () => {
      await watch.look();
      return watch.idleTransactions().length > 0;
    }, 15_000);
    await expect(check({ watch })).rejects.toThrow(/sessions: mainstay-worker was idle in a transaction/);
  } finally {
    await watch.stop();
    await Promise.all(many.map((client) => client.end()));
  }
}, 30_000);

test("secrets and errors in a log are found", async () => {
  const other = { ...fleet, logFolder: path.join(fleet.logFolder, "..", `spoiled-${randomUUID()}`) };
  mkdirSync(other.logFolder);
  appendFileSync(path.join(other.logFolder, "worker-9.log"), "{\"msg\":\"said canary-of-this-test\"}\nTypeError: boom\n    at nowhere.js:1:1\n");
  try {
    await expect(check({ fleet: other })).rejects.toThrow(/processes: worker-9 wrote TypeError: boom[^]*secrets: a canary in the log of worker-9/);
  } finally {
    rmSync(other.logFolder, { recursive: true });
  }
});
