import { randomUUID } from "node:crypto";
import { projectId } from "@mainstay/contract";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { wireFleet } from "./load/wire-fleet.js";

defineCase({ id: "C41", title: "fifty simultaneous posts with one key make one run", fullMinutes: 3, scaledSeconds: 12 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, api: 3 });
  const urls = fleet.fleet.of("api").map(({ url }) => url);
  const rounds = on.pick(100, 8);
  const runIds: string[] = [];
  let replays = 0;
  let inFlight = 0;
  for (let round = 0; round < rounds; round += 1) {
    const key = randomUUID();
    const body = JSON.stringify({ workflowId: "wire-echo", inputs: { round } });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) =>
      askRaw({ url: `${urls[index % urls.length] ?? ""}/runs`, key: fleet.key, body, headers: { "idempotency-key": key } })));
    const created = answers.filter(({ status }) => status === 201);
    const others = answers.filter(({ status }) => status !== 201);
    for (const { status, headers, json } of others) {
      expect({ status, error: json()["error"], hint: Number(headers["retry-after"]) > 0 }).toEqual({ status: 409, error: "idempotency_in_flight", hint: true });
    }
    const ids = new Set(created.map(({ json }) => String(json()["runId"])));
    expect(ids.size).toBe(1);
    expect(created.filter(({ headers }) => headers["openwop-idempotent-replay"] === undefined)).toHaveLength(1);
    replays += created.length - 1;
    inFlight += others.length;
    runIds.push(...ids);
    if (round % 25 === 24) on.tell(`round ${String(round + 1)} of ${String(rounds)}`);
  }
  const [stored] = await fleet.sql<{ runs: number }>("select count(*)::int as runs from runs");
  expect(stored?.runs).toBe(rounds);
  on.measure("rounds", rounds);
  on.measure("marked as replay", replays);
  on.measure("409 in flight", inFlight);

  on.tell("one key at two endpoints");
  const key = randomUUID();
  const create = (inputs: object) => askRaw({ url: `${urls[0] ?? ""}/runs`, key: fleet.key, body: JSON.stringify({ workflowId: "wire-wait", inputs }), headers: { "idempotency-key": key } });
  const first = String((await askRaw({ url: `${urls[1] ?? ""}/runs`, key: fleet.key, body: JSON.stringify({ workflowId: "wire-wait", inputs: { delayMs: 600_000 } }) })).json()["runId"]);
  const [made, cancelled] = await Promise.all([
    create({ delayMs: 1 }),
    askRaw({ url: `${urls[2] ?? ""}/runs/${projectId(first)}/cancel`, key: fleet.key, body: "{}", headers: { "idempotency-key": key } }),
  ]);
  expect([made.status, cancelled.status]).toEqual([201, 200]);
  expect(made.json()["runId"]).not.toBe(cancelled.json()["runId"]);
  const ended = await fleet.waitEnded([...runIds, first, String(made.json()["runId"])], 60_000);
  expect([...ended.values()].filter((status) => status === "completed")).toHaveLength(rounds + 1);
  expect(ended.get(first)).toBe("cancelled");
});
