import { expect } from "vitest";
import { forkRun, mintRunId, purgeRuns, type NewFork, type Queryable } from "../../src/index.js";
import type { Bench } from "../bench/open-bench.js";
import { beginWorker, claim, completionOf, hold, progress, rowOf, sha256, typesOf, writeOf } from "../bench/seed.js";
import { pauseOnce } from "./pause-once.js";
import type { Scenario } from "./scenario.js";

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const DAY_MS = 24 * 3600 * 1000;
const ends = { retentionDays: 30, dispatchBoundMs: 0 };
const purgeOn = (db: Queryable, keepMs = DAY_MS) => purgeRuns(db, { after: FIRST_ID, keepMs, graceMs: 0 });

/** A branch of a run's one node, from its start on. */
const branchOf = (sourceId: string, more: Partial<NewFork> = {}): NewFork => ({
  id: mintRunId(), workspace: "acme", sourceId, mode: "branch", fromSeq: 2, nodes: [], nextNodes: [{ id: "a", typeId: "core.noop" }], overlay: {}, ...more,
});
const forkOn = (db: Queryable, fork: NewFork) => forkRun(db, fork, ends);

/** A run whose id and end lie two days back. */
async function endedLongAgo(bench: Bench): Promise<string> {
  const id = `${(Date.now() - 2 * DAY_MS).toString(16).padStart(12, "0").replace(/^(.{8})(.{4})$/, "$1-$2")}-7000-8000-${mintRunId().slice(24)}`;
  const held = await hold(bench.db, await beginWorker(bench.db), { id });
  await progress(bench.db, completionOf(held));
  await bench.sql("update runs set finished_at = now() - interval '2 days' where id = $1", [id]);
  return id;
}

async function ended(bench: Bench): Promise<string> {
  const held = await hold(bench.db, await beginWorker(bench.db));
  await progress(bench.db, completionOf(held));
  return held.runId;
}

export const forks: readonly Scenario[] = [
  {
    of: "runs.fork", holds: "a source that retention took away meanwhile is not found, and nothing is born",
    show: async (bench) => {
      const sourceId = await endedLongAgo(bench);
      const fork = branchOf(sourceId);
      const answer = await pauseOnce(bench, {
        at: "runs.fork", act: (db) => forkOn(db, fork),
        meanwhile: async () => { expect(await purgeOn(bench.db)).toMatchObject({ purged: 1 }); },
      });
      expect(answer).toEqual({ kind: "not_found" });
      expect(await bench.sql("select from runs")).toEqual([]);
      expect(await bench.sql("select from run_events")).toEqual([]);
    },
  },
  {
    of: "runs.fork", holds: "a source that ended meanwhile is forked with its whole log or not at all",
    show: async (bench) => {
      const held = await hold(bench.db, await beginWorker(bench.db));
      const fork = branchOf(held.runId, { fromSeq: 4, nodes: [{ node: "a", status: "completed", attempts: 1, failures: 0, settledBy: 3 }], nextNodes: [] });
      const answer = await pauseOnce(bench, { at: "runs.fork", meanwhile: () => progress(bench.db, completionOf(held)), act: (db) => forkOn(db, fork) });
      expect(["created", "not_ended"]).toContain(answer.kind);
      if (answer.kind === "created") expect(await typesOf(bench, fork.id)).toEqual((await typesOf(bench, held.runId)).slice(0, 4));
      else expect(await bench.sql("select from runs where id = $1", [fork.id])).toEqual([]);
    },
  },
  {
    of: "runs.fork", holds: "the same key used meanwhile is answered by its record, and one fork is born",
    show: async (bench) => {
      const sourceId = await ended(bench);
      const keyed = () => branchOf(sourceId, { idempotency: { operation: "forkRun", key: "k1", bodyDigest: sha256("{}"), answer: { said: "first" } } });
      const answer = await pauseOnce(bench, { at: "runs.fork", meanwhile: () => forkOn(bench.db, keyed()), act: (db) => forkOn(db, keyed()) });
      expect(answer).toEqual({ kind: "replayed", status: 201, body: { said: "first" } });
      expect(await bench.sql("select from runs where forked_from is not null")).toHaveLength(1);
      expect(await bench.sql("select from outbox where run_id <> $1", [sourceId])).toHaveLength(1);
    },
  },
  {
    of: "runs.fork", holds: "the same fork born meanwhile (a lost reply) is answered created and born once, with fences above the copied ones",
    show: async (bench) => {
      const sourceId = await ended(bench);
      const fork = branchOf(sourceId);
      const answer = await pauseOnce(bench, { at: "runs.fork", meanwhile: () => forkOn(bench.db, fork), act: (db) => forkOn(db, fork) });
      expect(answer).toEqual({ kind: "created" });
      expect(await typesOf(bench, fork.id)).toEqual(["lease.acquired", "run.started"]);
      expect(await rowOf(bench, fork.id)).toMatchObject({ lineage: fork.id, forked_from: sourceId, fork_seq: 2, fence: "1", claims: 0 });
      const owner = await beginWorker(bench.db);
      await claim(bench.db, owner, fork.id);
      expect(await typesOf(bench, fork.id)).toEqual(["lease.acquired", "run.started", "lease.acquired", "node.started"]);
    },
  },
  {
    of: "retention.purge_runs", holds: "a run that was pinned meanwhile stays with all that is recorded of it",
    show: async (bench) => {
      const runId = await endedLongAgo(bench);
      const page = await pauseOnce(bench, {
        at: "retention.purge_runs", act: (db) => purgeOn(db),
        meanwhile: () => bench.sql("update runs set pinned_until = now() + interval '1 hour' where id = $1", [runId]),
      });
      expect(page).toMatchObject({ seen: 1, purged: 0 });
      expect(await typesOf(bench, runId)).toHaveLength(5);
      await bench.sql("update runs set pinned_until = now() - interval '1 second'");
      expect(await purgeOn(bench.db)).toMatchObject({ purged: 1 });
      for (const table of ["runs", "run_events", "run_nodes", "outbox"]) expect(await bench.sql(`select from ${table}`), table).toEqual([]);
    },
  },
  {
    of: "retention.purge_runs", holds: "a fork that was born meanwhile goes on without its source, a replay with what it recorded",
    show: async (bench) => {
      const sourceId = await endedLongAgo(bench);
      const fork = branchOf(sourceId, { mode: "replay" });
      const page = await pauseOnce(bench, { at: "retention.purge_runs", meanwhile: () => forkOn(bench.db, fork), act: (db) => purgeOn(db) });
      expect(page).toMatchObject({ purged: 1 });
      expect(await bench.sql("select type from recorded_outcomes where run_id = $1 order by seq", [fork.id])).toEqual([{ type: "node.completed" }, { type: "run.completed" }]);
      expect(await typesOf(bench, fork.id)).toEqual(["lease.acquired", "run.started"]);
    },
  },
  {
    of: "retention.purge_runs", holds: "a run whose dead letter is still within its time, or is being attempted, stays",
    show: async (bench) => {
      const runId = await endedLongAgo(bench);
      const other = await hold(bench.db, await beginWorker(bench.db));
      await progress(bench.db, writeOf(other, { events: [{ type: "run.cancelled", payload: {} }], move: { kind: "cancel" } }));
      await bench.sql(`insert into dead_letters (workspace, scope, run_id, workflow_id, spec_hash, failure, class, code, disposition, fingerprint, reason, attempts,
          payload_ref, payload_digest, fencing_token, lineage, first_failed_at, last_failed_at, expires_at, state, next_action)
        values ('acme', 'node', $1, 'order', 'spec', '{}', 'DEFECT', 'platform.handler_exception', 'handler_error', 'f', 'r', 1, 'p', 'x', 1, $1, now(), now(), now() + interval '1 day', 'OPERATOR_DECISION_REQUIRED', 'decide')`, [runId]);
      const page = await pauseOnce(bench, { at: "retention.purge_runs", act: (db) => purgeOn(db), meanwhile: () => bench.sql("select") });
      expect(page).toMatchObject({ seen: 1, purged: 0 });
    },
  },
];
