import { afterAll, beforeAll, expect, test } from "vitest";
import { takeOver } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { accept, beginWorker, completionOf, hold, lapse, launch, launchOf, limits, progress } from "../bench/seed.js";

let bench: Bench;
let held: Awaited<ReturnType<typeof hold>>;
let ended: Awaited<ReturnType<typeof hold>>;

beforeAll(async () => {
  bench = await openBench();
  held = await hold(bench.db, await beginWorker(bench.db));
  await launch(bench.db, launchOf(held));
  ended = await hold(bench.db, await beginWorker(bench.db));
  await progress(bench.db, completionOf(ended));
  const doomed = await hold(bench.db, await beginWorker(bench.db));
  await bench.sql("update runs set crashes = 4 where id = $1", [doomed.runId]);
  await lapse(bench, doomed.owner);
  await takeOver(bench.db, { incarnations: [doomed.owner], limits });
  await accept(bench.db);
});
afterAll(() => bench.close());

const refused = (text: string, id?: string) => expect(bench.sql(text, id === undefined ? [] : [id])).rejects.toMatchObject({ code: "23514" });

const impossible = [
  ["a status outside the vocabulary", "update runs set status = 'stalled'"],
  ["an owner of a run that does not run", "update runs set owner = gen_random_uuid() where status = 'pending'"],
  ["a terminal status without its instant", "update runs set finished_at = null where status = 'completed'"],
  ["the instant of an end without a terminal status", "update runs set finished_at = now() where status = 'running'"],
  ["a running run that nobody holds and that waits for nothing", "update runs set owner = null where status = 'running'"],
  ["open effects below zero", "update runs set open_effects = -1"],
  ["a stop that is neither cancel nor pause", "update runs set stop_requested = 'kill'"],
  ["a company of nobody", "update runs set cohort_limit = 0"],
  ["an event before the first", "update run_events set seq = -1 where seq = 0"],
  ["a settled effect without its instant", "update effects set state = 'confirmed'"],
  ["an effect of an unknown class", "update effects set class = 'write'"],
  ["a dead letter without a reason", "insert into dead_letters select (jsonb_populate_record(d, '{\"id\": \"00000000-0000-4000-8000-000000000001\", \"reason\": \"\"}')).* from dead_letters d"],
  ["a dead letter without an attempt", "insert into dead_letters select (jsonb_populate_record(d, '{\"id\": \"00000000-0000-4000-8000-000000000002\", \"attempts\": 0}')).* from dead_letters d"],
] as const;

for (const [what, text] of impossible) test(`Postgres itself refuses ${what}`, () => refused(text));

test("the facts of a dead letter never change", async () => {
  for (const change of ["reason = 'nicer'", "attempts = 7", "class = 'TRANSIENT'", "effect_ids = array[gen_random_uuid()]", "expires_at = now() + interval '99 days'"]) {
    await refused(`update dead_letters set ${change}`);
  }
});

test("the projection of a dead letter may change", async () => {
  const moved = await bench.sql("update dead_letters set state = 'RETRY_ELIGIBLE', state_version = 2, next_action = 'replay' returning state");
  expect(moved).toEqual([{ state: "RETRY_ELIGIBLE" }]);
});

test("a run has one dead letter of its own", async () => {
  const again = `insert into dead_letters select (jsonb_populate_record(d, '{"id": "00000000-0000-4000-8000-000000000003"}')).* from dead_letters d`;
  await expect(bench.sql(again)).rejects.toMatchObject({ code: "23505", constraint: "dead_letters_run" });
});

test("an identity stands once in a workspace's ledger", async () => {
  const again = `insert into effects select (jsonb_populate_record(e, '{"id": "00000000-0000-4000-8000-000000000004"}')).* from effects e`;
  await expect(bench.sql(again)).rejects.toMatchObject({ code: "23505", constraint: "effects_identity" });
});
