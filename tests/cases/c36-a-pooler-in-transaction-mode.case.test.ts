import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createTestDatabase, startReceiver, until } from "@mainstay/testing";
import pg from "pg";
import { expect } from "vitest";
import { defineCase, type CaseOn } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readCharges } from "./load/read-charges.js";
import { runCli } from "./load/run-cli.js";
import { expectRefusals } from "./pooler/expect-refusals.js";
import { expectSmoke, slowRelay } from "./pooler/expect-smoke.js";
import { startPgbouncer, versionOf, type Pgbouncer } from "./pooler/start-pgbouncer.js";

defineCase({
  id: "C36", title: "behind a pooler in transaction mode the fleet does all its work, or refuses at the start with what to do",
  fullMinutes: 4, scaledSeconds: 25, tools: ["pgbouncer"],
}, async (on) => {
  await works(on, "off");
  const [major, minor] = versionOf(on.tool("pgbouncer"));
  if (major === 1 && minor < 21) on.notRun("prepared statements kept by the pooler", `PgBouncer 1.21 or later, this is ${String(major)}.${String(minor)}`);
  else await works(on, "on");
});

async function works(on: CaseOn, prepared: "off" | "on"): Promise<void> {
  const database = await createTestDatabase();
  on.defer(() => database.drop());
  const program = on.tool("pgbouncer");
  const pooler = await startPgbouncer(program, { serverUrl: database.url, prepared });
  const silent = await startPgbouncer(program, { serverUrl: database.url, dropped: ["options", "extra_float_digits"] });
  const keeping = await startPgbouncer(program, { serverUrl: database.url, mode: "session", dropped: ["options", "extra_float_digits"] });
  on.defer(() => Promise.all([pooler, silent, keeping].map((one) => one.stop())));
  const places = { DATABASE_URL: pooler.through(database.url), DATABASE_DIRECT_URL: database.url, MAINSTAY_DATABASE_POOLER: "transaction" };
  await expectRefusals({ direct: database.url, pooler, silent, keeping, roles: on.pick(["api", "relay", "worker", "supervisor"] as const, ["api", "worker"] as const), env: { MAINSTAY_BROKER: "none" } });
  await migrates(on, pooler);

  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, databaseUrl: database.url, receivers: [receiver], env: { ...places, ...slowRelay.env } });
  await expectSmoke(on, fleet, receiver);

  on.tell("the pooler is killed under the fleet and comes back");
  const before = await readCharges(fleet);
  const runIds = await Promise.all(Array.from({ length: 20 }, () => fleet.submit("probe-order", { url: receiver.url, beforeMs: on.pick(8_000, 2_000) })));
  await until("the runs to be held", () => new Set(fleet.begun().map(({ runId }) => runId)).size >= runIds.length);
  await pooler.kill();
  await sleep(on.pick(5_000, 500));
  await pooler.start();
  const back = performance.now();
  const fresh = await fleet.submit("probe-order", { url: receiver.url });
  expect(await fleet.waitEnded([fresh, ...runIds])).toEqual(new Map([fresh, ...runIds].map((id) => [id, "completed"])));
  on.measure("all runs ended after the pooler's return", performance.now() - back, "ms");
  // what a holder could not write meanwhile it may have handed back; nobody took anything from it
  expect(await readCharges(fleet)).toMatchObject({ crashes: before.crashes, losses: before.losses, reclaims: before.reclaims });
  expect(fleet.fleet.deaths()).toEqual({ SIGKILL: 1 });
  expect(fleet.fleet.processes().flatMap((one) => one.lines().filter(({ text }) => text.includes("prepared statement")))).toEqual([]);
}

/** Migrations go past the pooler, and are refused through it: their lock would be another session's. */
async function migrates(on: CaseOn, pooler: Pgbouncer): Promise<void> {
  const empty = await createTestDatabase();
  on.defer(() => empty.drop());
  const owner = new pg.Client({ connectionString: empty.url });
  await owner.connect();
  await owner.query("drop schema public cascade; create schema public");
  await owner.end();
  const pooled = pooler.through(empty.url);
  const migrate = (env: Readonly<Record<string, string>>) => runCli(["migrate", "-o", "id"], { url: "", key: "", env });
  const refused = await migrate({ DATABASE_URL: pooled });
  expect(refused.err).toMatch(/DATABASE_DIRECT_URL .* leads through a pooler/);
  expect(refused.status).not.toBe(0);
  const done = await migrate({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: empty.url, MAINSTAY_DATABASE_POOLER: "transaction" });
  expect(done.status, done.err).toBe(0);
  const folders = readdirSync(fileURLToPath(new URL("../../prisma/migrations", import.meta.url)), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(done.out.trim().split("\n")).toHaveLength(folders.length);
}
