import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccept, rememberAnswer } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker, claim, completionOf, newRun, progress, sha256 } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

const accept = () => createAccept(bench.another(), { dispatchBoundMs: 0, giveUpMs: 20_000 });
const keyed = (key: string, body: string, workspace = "acme") => newRun({ workspace, idempotency: { operation: "runs.create", key, bodyDigest: sha256(body), answer: { body } } });

test("fifty requests with one key from five processes make one run, and all get its answer", async () => {
  const processes = Array.from({ length: 5 }, accept);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => processes[i % 5]!(keyed("one", "body"))));
  expect(answers.filter(({ kind }) => kind === "created")).toHaveLength(1);
  expect(answers.filter(({ kind }) => kind !== "created")).toEqual(Array.from({ length: 49 }, () => ({ kind: "replayed", status: 201, body: { body: "body" } })));
  expect(await bench.sql("select from runs r join idempotency_records i on i.run_id = r.id where i.key = 'one'")).toHaveLength(1);
});

test("a known key with another body is a mismatch", async () => {
  expect(await accept()(keyed("two", "body"))).toEqual({ kind: "created" });
  expect(await accept()(keyed("two", "other"))).toEqual({ kind: "key_mismatch" });
});

test("a key belongs to its workspace", async () => {
  expect(await accept()(keyed("three", "body"))).toEqual({ kind: "created" });
  expect(await accept()(keyed("three", "other", "umbrella"))).toEqual({ kind: "created" });
});

test("a key keeps its answer after its run has ended, and never revives it", async () => {
  const run = keyed("four", "body");
  await accept()(run);
  const owner = await beginWorker(bench.db);
  const { fence } = await claim(bench.db, owner, run.id);
  await progress(bench.db, completionOf({ runId: run.id, owner, fence }));
  expect(await accept()(keyed("four", "body"))).toMatchObject({ kind: "replayed" });
  expect(await bench.sql("select status from runs where id = $1", [run.id])).toEqual([{ status: "completed" }]);
});

test("a scope holds one live run: refused while it lives, free once it has ended", async () => {
  const scoped = () => newRun({ dedupScope: "customer-7" });
  const first = scoped();
  const answers = await Promise.all([accept()(first), ...Array.from({ length: 9 }, () => accept()(scoped()))]);
  expect(answers.filter(({ kind }) => kind === "created")).toHaveLength(1);
  expect(answers.filter(({ kind }) => kind === "scope_active")).toHaveLength(9);
  const [live] = await bench.sql<{ id: string }>("select id from runs where scope_id = 'customer-7'");
  const owner = await beginWorker(bench.db);
  const { fence } = await claim(bench.db, owner, live!.id);
  await progress(bench.db, completionOf({ runId: live!.id, owner, fence }));
  expect(await accept()(scoped())).toEqual({ kind: "created" });
});

test("twenty refusals remembered under one key at once are one record, and it is the answer of all", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => rememberAnswer(bench.another({ poolSize: 1 }), {
    workspace: "acme", operation: "runs.create", key: "refused", bodyDigest: sha256("body"), status: 400, body: { said: i },
  })));
  const [stored] = await bench.sql<{ body: unknown }>("select body from idempotency_records where key = 'refused'");
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
  expect(answers.filter((answer) => answer !== undefined)).toEqual(Array.from({ length: 19 }, () => ({ sameBody: true, status: 400, body: stored?.body })));
});

test("every accepted run has its ticket in the outbox, born in the same statement", async () => {
  const runs = Array.from({ length: 20 }, () => newRun());
  const send = accept();
  await Promise.all(runs.map((run) => send(run)));
  const rows = await bench.sql<{ id: string; same: boolean }>(
    "select r.id, r.xmin::text = o.xmin::text as same from runs r join outbox o on o.run_id = r.id where r.id = any($1)", [runs.map(({ id }) => id)]);
  expect(rows).toHaveLength(20);
  expect(rows.every(({ same }) => same)).toBe(true);
});

test("one run that cannot be stored fails alone: its neighbours in the flush are created", async () => {
  const send = accept();
  const bad = newRun({ subject: { type: "key" }, input: "{not json" });
  const answers = await Promise.allSettled([send(newRun()), send(bad), send(newRun()), send(newRun())]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
});
