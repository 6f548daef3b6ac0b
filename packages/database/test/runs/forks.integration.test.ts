import { afterAll, beforeAll, expect, test } from "vitest";
import { forkRun, mintRunId } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker, completionOf, hold, progress } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

test("a run whose log is not whole is never forked, and the error says so", async () => {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await progress(bench.db, completionOf(held));
  const id = mintRunId();
  const asked = { id, workspace: "acme", sourceId: held.runId, mode: "branch", fromSeq: 3, nodes: [], nextNodes: [{ id: "a", typeId: "core.noop" }], overlay: {} } as const;
  await bench.sql("delete from run_events where run_id = $1 and seq = 1", [held.runId]);
  await expect(forkRun(bench.db, asked, { retentionDays: 30, dispatchBoundMs: 0 })).rejects.toThrow("log is not whole");
  expect(await bench.sql("select from runs where id = $1", [id])).toEqual([]);
});
