import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { defineWorkflow } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseFleet } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";

const day = 86_400_000;
const untilYear9999 = Date.UTC(9999, 11, 31) - Date.now();
/** Delays that are waited without a slot. */
const long = [2 ** 31 - 1, 2 ** 31, 30 * day, 3_652 * day, untilYear9999];
/** Retries wait so long at most, whatever is asked. */
const mostBackoffMs = 6 * 3_600_000;

defineCase({ id: "C47", title: "delays of every kind are refused or kept, and none fires early, holds a lease or is lost by a restart", fullMinutes: 3, scaledSeconds: 20 }, async (on) => {
  const fleet = await on.startFleet({ workflows: fileURLToPath(new URL("./load/delay-workflows.mjs", import.meta.url)) });

  // what is no delay is refused, with field and rule, and makes no run
  for (const text of ["-1", "-0.5", "null", '"5"', "true", "[1]", "{}", "NaN", "Infinity", "1e400", "1e21", String(untilYear9999 + 2 * day)]) {
    const answer = await askRaw({ url: `${fleet.apiUrl()}/runs`, key: fleet.key, body: `{"workflowId":"delay-timer","inputs":{"canary":"${on.canary}","delayMs":${text}}}` });
    expect([text, answer.status]).toEqual([text, 400]);
    if (!["NaN", "Infinity", "1e400"].includes(text)) expect(answer.text, text).toMatch(/inputs\.delayMs: the delay of node .* must be a number of milliseconds, at least 0, that ends before the year 10000/);
  }
  const none = await askRaw({ url: `${fleet.apiUrl()}/runs`, key: fleet.key, body: '{"workflowId":"delay-timer","inputs":{}}' });
  expect(none.status).toBe(400);
  expect(await fleet.sql("select id from runs")).toEqual([]);
  for (const delayMs of [-1, Number.NaN, Infinity, "5", null, undefined, new Date(0)]) {
    expect(() => defineWorkflow({ id: "w", version: "1", nodes: { wait: { type: "core.delay", config: { delayMs } } } }), String(delayMs)).toThrow("nodes.wait.config.delayMs: expected");
  }
  for (const baseMs of [-1, 0, 0.5, 2 ** 31, 3_652 * day, Number.NaN, Infinity, "5", null]) {
    expect(() => defineWorkflow({ id: "w", version: "1", nodes: { again: { retry: { maxRetries: 1, baseMs: baseMs as number }, run: () => ({}) } } }), String(baseMs)).toThrow("nodes.again.retry.baseMs: expected 1 to 86400000 ms");
  }

  // short ones end at once, and so does what a destination asks for in vain: nothing, the past, no number
  const short = await Promise.all([
    ...[0, -0, 0.5, 1, 249.5, 251].map((delayMs) => fleet.submit("delay-timer", { delayMs })),
    ...[-1, 0, 1, null, "5", "NaN", "Infinity", "-Infinity"].map((askMs) => fleet.submit("delay-retry", { askMs })),
    ...["-1", "0", "soon", new Date(0).toUTCString()].map((header) => fleet.submit("delay-retry", { header })),
  ]);
  expect([...(await fleet.waitEnded(short)).values()].filter((status) => status !== "completed")).toEqual([]);

  // long ones wait, hold nothing, and outlast every process that knew of them
  const timers = await Promise.all(long.map((delayMs) => fleet.submit("delay-timer", { delayMs })));
  const retries = await Promise.all([
    ...long.map((askMs) => fleet.submit("delay-retry", { askMs })),
    ...[String(2 ** 31), "Fri, 31 Dec 9999 23:59:59 GMT"].map((header) => fleet.submit("delay-retry", { header })),
  ]);
  await waitingOf(fleet, timers, "timer");
  await waitingOf(fleet, retries, "retry");
  const begun = fleet.begun().length;
  for (const process of fleet.fleet.processes()) await process.kill("SIGTERM");
  await Promise.all([fleet.fleet.add("relay"), fleet.fleet.add("supervisor"), fleet.fleet.add("worker"), fleet.fleet.add("worker")]);
  await fleet.fleet.add("api");
  await sleep(on.pick(60_000, 4_000)); // nothing may happen meanwhile
  expect(fleet.begun().length).toBe(begun);
  const [due] = await fleet.sql<{ timers: string[]; retries: string[]; held: number; claims: number }>(
    `select array(select round(extract(epoch from due_at - created_at))::text from runs where waiting_on = 'timer' order by due_at) as timers,
       array(select round(extract(epoch from due_at - created_at))::text from runs where waiting_on = 'retry' order by due_at) as retries,
       (select count(*)::int from runs where owner is not null) as held, (select max(claims) from runs where waiting_on is not null) as claims`);
  expect(due).toMatchObject({ held: 0, claims: 1 });
  expect(due?.timers.length).toBe(long.length);
  due?.timers.forEach((seconds, index) => { expect(Math.abs(Number(seconds) - (long[index] ?? 0) / 1_000), String(long[index])).toBeLessThan(30); });
  for (const seconds of due?.retries ?? []) expect(Math.abs(Number(seconds) - mostBackoffMs / 1_000)).toBeLessThan(30);

  // the time hook: their instant comes
  await fleet.sql(`update run_nodes set due_at = now() where due_at > now()`);
  await fleet.sql(`update runs set due_at = now(), sweep_at = now() where waiting_on is not null`);
  expect([...(await fleet.waitEnded([...timers, ...retries])).values()].filter((status) => status !== "completed")).toEqual([]);
  const times = new Map<string, number>();
  for (const { runId, nodeId } of fleet.begun()) times.set(`${runId} ${nodeId}`, (times.get(`${runId} ${nodeId}`) ?? 0) + 1);
  for (const runId of timers) expect(times.get(`${runId} due`)).toBe(1);
  for (const runId of retries) expect(times.get(`${runId} again`)).toBe(2);
});

async function waitingOf(fleet: CaseFleet, runIds: readonly string[], on: string): Promise<void> {
  const ids = runIds.map((runId) => runId.slice(runId.lastIndexOf("/") + 1));
  await until(`${String(ids.length)} runs to wait on ${on}`, async () => {
    const [row] = await fleet.sql<{ waiting: number }>("select count(*)::int as waiting from runs where id = any($1::uuid[]) and waiting_on = $2 and owner is null", [ids, on]);
    return row?.waiting === ids.length;
  });
}
