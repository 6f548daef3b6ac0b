import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { probeFleet } from "./load/probe-fleet.js";

const each = 50;

defineCase({ id: "C04", title: "a node that ends as its lease does is finished once, by the first attempt or by the second", fullMinutes: 4, scaledSeconds: 15 }, async (on) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "mainstay-c04-"));
  on.defer(() => { rmSync(folder, { recursive: true, force: true }); });
  const leaseMs = on.pick(3_000, 1_000);
  const fleet = await on.startFleet({ ...probeFleet, workers: 0 });
  /** A worker whose heartbeats may be stopped on their way, while its working pool reaches the database. */
  const add = async () => {
    const proxy = await startProxy(fleet.databaseUrl);
    on.defer(() => proxy.stop());
    return { proxy, worker: await fleet.fleet.add("worker", { env: { DATABASE_DIRECT_URL: proxy.through(fleet.databaseUrl), MAINSTAY_DEATH_WATCH: "off" } }) };
  };
  const counts = { first: 0, second: 0 };
  let holder = await add();
  const rounds = on.pick(10, 1);
  for (let round = 1; round <= rounds; round += 1) {
    const endAtFile = path.join(folder, String(round));
    const before = fleet.begun().length;
    const runIds = await Promise.all(Array.from({ length: each }, (_, index) =>
      fleet.submit("probe-until", { endAtFile, jitterMs: Math.round((index / (each - 1)) * 100 - 50) })));
    await until("the one worker to hold them all", () => fleet.begun().length - before === each);
    const peer = await add();
    holder.proxy.blackHole();
    const beat = await until("its last beat", lastBeat);
    writeFileSync(`${endAtFile}.new`, String(beat + leaseMs));
    renameSync(`${endAtFile}.new`, endAtFile);
    const ended = await fleet.waitEnded(runIds, 60_000);
    expect([...ended.values()].filter((status) => status !== "completed")).toEqual([]);
    const taken = await fleet.sql<{ claims: number; runs: number }>("select claims, count(*)::int as runs from runs where id = any($1::uuid[]) group by claims order by claims", [runIds.map((id) => id.slice(id.indexOf("/") + 1))]);
    expect(taken.filter(({ claims }) => claims > 2)).toEqual([]);
    counts.first += taken.find(({ claims }) => claims === 1)?.runs ?? 0;
    counts.second += taken.find(({ claims }) => claims === 2)?.runs ?? 0;
    on.tell(`round ${String(round)} of ${String(rounds)}: ${String(counts.first)} by the first attempt, ${String(counts.second)} by the second`);
    holder.proxy.heal();
    await holder.worker.kill("SIGTERM");
    holder = peer;
  }
  on.measure("finished by the first attempt", counts.first);
  on.measure("finished by the second attempt", counts.second);
  expect(counts.first + counts.second).toBe(rounds * each);
  // what a first attempt completed was never taken again, and nothing failed after it was completed
  expect(await fleet.sql("select run_id from run_events where type in ('run.failed', 'node.failed', 'run.dead-lettered')")).toEqual([]);
  expect(await fleet.sql("select id from runs where status <> 'completed'")).toEqual([]);

  /** The instant of the holder's last beat, once no further one came for the time of a heartbeat; milliseconds of the machine's clock. */
  async function lastBeat(): Promise<number | undefined> {
    const [row] = await fleet.sql<{ at: number; silent: boolean }>(
      `select (extract(epoch from beat_at) * 1000)::float8 as at, beat_at < now() - $2::int * interval '1 millisecond' as silent from incarnations where id = $1`,
      [holder.worker.incarnation, on.pick(1_100, 350)]);
    return row?.silent === true ? row.at : undefined;
  }
});
