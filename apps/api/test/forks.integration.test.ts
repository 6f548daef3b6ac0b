import { Discovery, ForkRunResponse, RunSnapshot, parseRunEvent, projectId } from "@mainstay/contract";
import { statement } from "@mainstay/database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal, type Answer } from "./http.js";
import { startApi, type TestApi } from "./start-api.js";

const endLongAgo = statement("test.end_long_ago", "update runs set finished_at = now() - interval '31 days' where id = $1::uuid");

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

const fork = (runId: string, body: unknown, more: { headers?: Record<string, string>; key?: string } = {}): Promise<Answer> =>
  ask(`${api.url}/runs/${projectId(runId)}:fork`, { key, body, ...more });
const eventsOf = async (runId: string) => (await ask(`${api.url}/runs/${projectId(runId)}/events/poll?timeout=1`, { key })).body["events"] as Record<string, unknown>[];
const snapshotOf = async (runId: string) => RunSnapshot.parse((await ask(`${api.url}/runs/${projectId(runId)}`, { key })).body);
async function endedRun(body: Record<string, unknown> = { workflowId: "order", inputs: { order: "o-1" }, tags: ["spring"], metadata: { of: "x" } }): Promise<string> {
  const runId = String((await ask(`${api.url}/runs`, { key, body })).body["runId"]);
  await api.complete(await api.claim(runId), { answer: 42 });
  return runId;
}

describe("POST /runs/{runId}:fork", () => {
  it("makes a run of its own with the events below the point: same sequence, type and payload, ids of its own, the parent's owner", async () => {
    const source = await endedRun();
    const other = await api.makeKey("acme");
    const answer = await fork(source, { mode: "branch", fromSeq: 3, runOptionsOverlay: { inputs: { order: "o-2" }, tags: ["forked"] } }, { key: other });
    expect(answer.status).toBe(201);
    const { runId, ...rest } = ForkRunResponse.parse(answer.body);
    expect(rest).toEqual({ sourceRunId: source, fromSeq: 3, mode: "branch", status: "pending", eventsUrl: `/runs/${projectId(runId)}/events` });
    const [mine, theirs] = [await eventsOf(runId), await eventsOf(source)];
    expect(mine).toHaveLength(3);
    mine.forEach((event, at) => {
      expect(parseRunEvent(event)).toHaveProperty("event");
      const { eventId, runId: own, ...same } = event;
      const { eventId: original, runId: _, ...copied } = theirs[at]!;
      expect(same).toEqual(copied);
      expect([own, eventId === original]).toEqual([runId, false]);
    });
    const [child, parent] = [await snapshotOf(runId), await snapshotOf(source)];
    expect(child).toMatchObject({ owner: parent.owner, parentRunId: source, tags: ["forked"], metadata: { of: "x" }, status: "pending" });
    expect((await api.claim(runId)).run).toMatchObject({ input: { order: "o-2" }, forkMode: "branch" });
    expect((await snapshotOf(source)).tags).toEqual(["spring"]);
  });

  it("refuses what does not go together, and points that the log does not have", async () => {
    const source = await endedRun();
    const last = (await eventsOf(source)).length - 1;
    expect(expectRefusal(await fork(source, { mode: "branch" }), 400, "validation_error")).toEqual({ field: "fromSeq" });
    expect(expectRefusal(await fork(source, { mode: "replay", runOptionsOverlay: {} }), 400, "validation_error")).toEqual({ field: "runOptionsOverlay" });
    expect(expectRefusal(await fork(source, { mode: "replay", fromSeq: -1 }), 400, "validation_error")).toEqual({ field: "fromSeq" });
    expect(expectRefusal(await fork(source, { mode: "replay", fromSeq: 1.5 }), 400, "validation_error")).toEqual({ field: "fromSeq" });
    expect(expectRefusal(await fork(source, { mode: "again" }), 400, "validation_error")).toEqual({ field: "mode" });
    expectRefusal(await fork(source, { mode: "branch", fromSeq: 0, runOptionsOverlay: { pool: "x" } }), 400, "validation_error");
    expectRefusal(await fork(source, { mode: "branch", fromSeq: 0, runOptionsOverlay: { inputs: { order: "" } } }), 400, "validation_error");
    expectRefusal(await fork(source, { mode: "replay", fromSeq: last + 1 }), 422, "fork_point_invalid");
    expectRefusal(await fork(source, { mode: "replay", fromSeq: 2_000_000_000 }), 422, "fork_point_invalid");
    expect((await fork(source, { mode: "replay", fromSeq: last })).status).toBe(201);
    expectRefusal(await fork("acme/0190a1b2-0000-7000-8000-000000000000", { mode: "replay" }), 404, "not_found");
    expectRefusal(await fork("beta/0190a1b2-0000-7000-8000-000000000000", { mode: "replay" }), 403, "id_tenant_mismatch");
    expectRefusal(await fork(source, { mode: "replay" }, { key: await api.makeKey("acme", ["runs:read", "runs:cancel"]) }), 403, "forbidden");
  });

  it("is taken of a run that has ended alone", async () => {
    const runId = String((await ask(`${api.url}/runs`, { key, body: { workflowId: "conformance-noop" } })).body["runId"]);
    expect(expectRefusal(await fork(runId, { mode: "replay" }), 409, "run_state_conflict")).toEqual({ runStatus: "pending" });
  });

  it("gives one run to one key, however often and at once it is asked, and two without", async () => {
    const source = await endedRun();
    const keyed = { headers: { "idempotency-key": crypto.randomUUID() } };
    const answers = await Promise.all(Array.from({ length: 6 }, () => fork(source, { mode: "replay" }, keyed)));
    expect(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expectRefusal(await fork(source, { mode: "replay", fromSeq: 1 }, keyed), 409, "idempotency_key_mismatch");
    const [one, two] = [await fork(source, { mode: "replay" }), await fork(source, { mode: "replay" })];
    expect(new Set([answers[0], one, two].map((answer) => answer?.body["runId"])).size).toBe(3);
  });

  it("finds no source past its retention", async () => {
    const source = await endedRun();
    expect((await fork(source, { mode: "replay" })).status).toBe(201);
    await api.database.query(endLongAgo, [source.slice(source.indexOf("/") + 1)]);
    expectRefusal(await fork(source, { mode: "replay" }), 404, "not_found");
  });

  it("is told in discovery with its retention and the manifest of effect seams", async () => {
    const discovery = Discovery.parse((await ask(`${api.url}/.well-known/openwop`)).body);
    expect(discovery.replay).toMatchObject({ modes: ["replay", "branch"], retention: { days: 30 }, effectSeamsManifest: "/host/effect-seams" });
  });
});
