import { randomUUID } from "node:crypto";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase, type CaseFleet } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { wireFleet } from "./load/wire-fleet.js";

const hourMs = 3_600_000;

defineCase({ id: "C42", title: "a key belongs to one body, one tenant and one day after the run's end", fullMinutes: 2, scaledSeconds: 15 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, supervisors: 0 });
  const second = await fleet.createKey({ workspace: "second" });
  const create = (idempotencyKey: string, body: string, key = fleet.key) => askRaw({ url: `${fleet.apiUrl()}/runs`, key, body, headers: { "idempotency-key": idempotencyKey } });
  const key = randomUUID();
  const secret = "only-in-the-first-body";
  const first = await create(key, `{"workflowId":"wire-echo","inputs":{"a":"${secret}","b":{"c":1,"d":[1,2]}},"tags":["t"]}`);
  const runId = String(first.json()["runId"]);
  await fleet.waitEnded([runId]);

  on.tell("a changed body, reordered members, another tenant");
  const changed = await create(key, '{"workflowId":"wire-echo","inputs":{"a":"other","b":{"c":1,"d":[1,2]}},"tags":["t"]}');
  expect([changed.status, changed.json()["error"]]).toEqual([409, "idempotency_key_mismatch"]);
  expect(changed.text).not.toContain(secret);
  const reordered = await create(key, `{ "tags": ["t"], "inputs": {"b":{"d":[1,2],"c":1.0},"a":"${secret}"}, "workflowId":"wire-echo"}`);
  expect([reordered.status, reordered.json()["runId"], reordered.headers["openwop-idempotent-replay"]]).toEqual([201, runId, "true"]);
  expect((await create(key, `{"workflowId":"wire-echo","inputs":{"a":"${secret}","b":{"c":1,"d":[2,1]}},"tags":["t"]}`)).status).toBe(409);
  const foreign = await create(key, '{"workflowId":"wire-echo","inputs":{"a":"mine"}}', second);
  expect([foreign.status, foreign.headers["openwop-idempotent-replay"], String(foreign.json()["runId"]).startsWith("second/")]).toEqual([201, undefined, true]);

  on.tell("within and after a day from the run's end, with and without the run itself");
  const body = (name: string): string => JSON.stringify({ workflowId: "wire-echo", inputs: { name } });
  const names = ["ended 23 h ago", "ended 25 h ago", "ended 23 h ago, purged at once", "still open after 30 days"] as const;
  const keys = new Map<string, string>(names.map((name) => [name, randomUUID()]));
  const made = new Map<string, string>();
  for (const name of names) made.set(name, String((await create(keys.get(name) ?? "", body(name))).json()["runId"]));
  await fleet.waitEnded([...made.values()]);
  await age(fleet, made.get(names[0]) ?? "", { createdHoursAgo: 48, endedHoursAgo: 23 });
  await age(fleet, made.get(names[1]) ?? "", { createdHoursAgo: 48, endedHoursAgo: 25 });
  await age(fleet, made.get(names[2]) ?? "", { createdHoursAgo: 23, endedHoursAgo: 23 });
  await age(fleet, made.get(names[3]) ?? "", { createdHoursAgo: 720, endedHoursAgo: undefined });
  for (const [table, column] of [["run_events", "run_id"], ["run_nodes", "run_id"], ["runs", "id"]] as const) {
    await fleet.sql(`delete from ${table} where ${column} in (select run_id from idempotency_records where key = $1)`, [keys.get(names[2])]);
  }
  await fleet.fleet.add("supervisor"); // its retention lane begins at once
  await until("the record of the run that ended 25 h ago to go", async () =>
    (await fleet.sql("select 1 from idempotency_records where key = $1", [keys.get(names[1])])).length === 0, 90_000);
  for (const name of names) {
    const again = await create(keys.get(name) ?? "", body(name));
    expect([name, again.status, again.headers["openwop-idempotent-replay"]]).toEqual([name, 201, name === names[1] ? undefined : "true"]);
    if (name === names[1]) await fleet.waitEnded([String(again.json()["runId"])]);
    else expect(again.json()["runId"]).toBe(made.get(name));
  }
  await fleet.sql("update runs set status = 'completed', finished_at = now(), outputs = '{}', waiting_on = null where status = 'waiting-external'");
  await fleet.waitEnded([String(foreign.json()["runId"])]);
});

/** The time hook: the run was created and ended so long ago; its id, which bears its birth, is moved with it. */
async function age(fleet: CaseFleet, runId: string, { createdHoursAgo, endedHoursAgo }: { createdHoursAgo: number; endedHoursAgo: number | undefined }): Promise<void> {
  const id = runId.slice(runId.indexOf("/") + 1);
  const hex = Math.floor(Date.now() - createdHoursAgo * hourMs).toString(16).padStart(12, "0");
  const older = `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
  await fleet.sql(
    `with moved as (
       update runs set id = $2, created_at = created_at - $3 * interval '1 hour',
         finished_at = now() - $4 * interval '1 hour', status = case when $4::float8 is null then 'waiting-external' else status end, waiting_on = case when $4::float8 is null then 'event' end,
         due_at = 'infinity', sweep_at = 'infinity',
         outputs = case when $4::float8 is null then null else outputs end
       where id = $1
     ), events as (update run_events set run_id = $2 where run_id = $1), nodes as (update run_nodes set run_id = $2 where run_id = $1)
     update idempotency_records set run_id = $2 where run_id = $1`,
    [id, older, createdHoursAgo, endedHoursAgo ?? null],
  );
}
