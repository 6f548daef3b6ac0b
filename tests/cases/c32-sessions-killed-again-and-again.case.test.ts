import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, startOwnPostgres, startReceiver, type OwnPostgres } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseFleet, type CaseOn } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { probeFleet } from "./load/probe-fleet.js";

/** A request is answered within so many milliseconds, whatever becomes of the database. */
const answerWithinMs = 5_000;

defineCase({ id: "C32", title: "sessions killed again and again, then a server restarted again and again, end no process and lose no run", fullMinutes: 6, scaledSeconds: 25 }, async (on) => {
  const server = await startOwnPostgres();
  on.defer(() => server.stop());
  const database = await createTestDatabase({ serverUrl: server.url });
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, databaseUrl: database.url, receivers: [receiver] });
  const load = keepAsking(on, fleet, receiver.url);

  const rounds = on.pick(24, 3);
  for (let round = 0; round < rounds; round++) {
    await sleep(on.pick(5_000, 1_500)); // the fault's own pace
    const [row] = await fleet.sql<{ cut: number }>("select count(pg_terminate_backend(pid))::int as cut from pg_stat_activity where datname = current_database() and application_name like 'mainstay%'");
    expect(row?.cut).toBeGreaterThan(5);
  }
  on.tell(`${String(rounds)} times every session was ended`);
  const restarts = on.pick(24, 2);
  for (let round = 0; round < restarts; round++) {
    await sleep(on.pick(5_000, 2_000)); // the fault's own pace
    await restart(server);
  }
  on.tell(`${String(restarts)} times the server was restarted`);
  const { accepted, refused, slowestMs } = await load.end();

  on.measure("accepted", accepted.length);
  on.measure("answered 503", refused);
  on.measure("slowest answer", slowestMs, "ms");
  expect(slowestMs).toBeLessThanOrEqual(answerWithinMs);
  expect(accepted.length).toBeGreaterThan(on.pick(1_000, 60));
  expect([...(await fleet.waitEnded(accepted, 60_000)).values()].filter((status) => status !== "completed")).toEqual([]);
  expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
  expect(fleet.fleet.deaths()).toEqual({});
  const [hurt] = await fleet.sql<{ crashes: number }>("select coalesce(sum(crashes), 0)::int as crashes from runs");
  expect(hurt?.crashes).toBe(0); // nobody died
});

async function restart(server: OwnPostgres): Promise<void> {
  await server.halt();
  await server.start();
}

/** Asks for twenty runs a second, each in a request of its own; all answers are 201 or a 503 that says when to come again. */
function keepAsking(on: CaseOn, fleet: CaseFleet, url: string): { end: () => Promise<{ accepted: string[]; refused: number; slowestMs: number }> } {
  const accepted: string[] = [];
  const open: Promise<void>[] = [];
  let refused = 0;
  let slowestMs = 0;
  let ended = false;
  const ask = async (index: number): Promise<void> => {
    const began = performance.now();
    const inputs = { canary: on.canary, url, beforeMs: (index % 10) * 100, afterMs: 50 };
    const answer = await askRaw({ url: `${fleet.apiUrl()}/runs`, key: fleet.key, body: JSON.stringify({ workflowId: "probe-order", inputs }) });
    slowestMs = Math.max(slowestMs, performance.now() - began);
    if (answer.status === 201) {
      const runId = String(answer.json()["runId"]);
      fleet.accept(runId);
      accepted.push(runId);
      return;
    }
    refused += 1;
    expect([answer.status, answer.json()["error"]]).toEqual([503, "service_unavailable"]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  };
  const asking = (async () => {
    const began = performance.now();
    for (let index = 0; !ended; index++) {
      open.push(ask(index));
      await sleep(Math.max(0, began + (index + 1) * 50 - performance.now()));
    }
  })();
  return {
    end: async () => {
      ended = true;
      await asking;
      await Promise.all(open);
      return { accepted, refused, slowestMs };
    },
  };
}
