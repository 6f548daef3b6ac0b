import { until } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkStanding } from "./stage/check-standing.js";
import { createActs, type Act } from "./stage/create-acts.js";
import { bare, startStage, type Ended, type Stage } from "./stage/start-stage.js";

// One worker is killed while all these runs have an effect on the wire, or behind them; a second one takes them over.
type Lost = { act: Act; runId: string };
let stage: Stage;
const lost = new Map<string, Lost>();
const of = async (name: string): Promise<Lost & Ended> => {
  const found = lost.get(name)!;
  return { ...found, ...await stage.ended(found.runId) };
};

const SEND_GRACE_MS = 1_000;
const TIMEOUT_MS = 1_500;
const hangs = () => ({ then: "hang" as const });
const neverActed = () => ({ status: 500, then: "hang" as const });

beforeAll(async () => {
  // a send grace that a busy machine does not pass: launches are counted here
  stage = await startStage({ workflows: "effects", name: "worker-effects-lost", env: { MAINSTAY_SEND_GRACE_MS: String(SEND_GRACE_MS) } });
  const create = createActs(stage);
  const begin = async (name: string, act: Act, input: Record<string, unknown>) => {
    lost.set(name, { act, runId: await stage.submit("proof-effect", { tag: act.tag, timeoutMs: TIMEOUT_MS, ...input }) });
    await act.onTheWire();
  };
  await Promise.all([
    begin("confirmed", create(), { holdMs: 60_000 }),
    begin("idempotent", create(hangs), { class: "idempotent_write" }),
    begin("forgotten", create(hangs), { class: "idempotent_write", keyRetentionMs: 50 }),
    begin("read", create((index) => (index === 0 ? hangs() : {})), { class: "read_only", method: "GET" }),
    begin("happened", create(hangs, () => ({ happened: true, result: { receipt: "found" } })), { reconcile: true, timeoutMs: 3_000 }),
    begin("did not", create((index) => (index === 0 ? neverActed() : {}), () => ({ happened: false })), { reconcile: true }),
    begin("partly", create(hangs, () => ({ happened: false, safe: false })), { reconcile: true }),
    begin("silent", create(hangs, () => null), { reconcile: true }),
    begin("nobody", create(hangs), {}),
    begin("shared", create(hangs), { class: "idempotent_write", businessKey: "shared", request: {} }),
    begin("shared and lost", create(hangs), { businessKey: "shared and lost", request: {} }),
  ]);
  for (const [name, more] of [["shared", { class: "idempotent_write" }], ["shared and lost", {}]] as const) {
    const { act } = lost.get(name)!;
    lost.set(`second ${name}`, { act, runId: await stage.submit("proof-effect", { tag: act.tag, timeoutMs: TIMEOUT_MS, businessKey: name, request: {}, ...more }) });
  }
  await until("the runs that share to wait", async () => (await stage.sql("select 1 from runs where owner is null and waiting_on = 'effect'")).length === 2);
  await until("the first effect to be confirmed", async () => (await stage.effects(lost.get("confirmed")!.runId))[0]?.state === "confirmed");
  const [worker] = stage.fleet.of("worker");
  expect(await worker!.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  await stage.fleet.add("worker");
});
afterAll(async () => { await stage.stop(); });

const quietAt = async (runId: string) => {
  const [row] = await stage.sql<{ launched: Date; quiet: Date; finished: Date }>(
    "select e.launched_at as launched, e.quiet_at as quiet, r.finished_at as finished from effects e join runs r on r.id = e.run_id where r.id = $1", [bare(runId)]);
  return row!;
};
const counts = async (runId: string) => {
  const [row] = await stage.sql("select crashes, losses, claims from runs where id = $1", [bare(runId)]);
  return row;
};
const wallOf = ({ at }: { at: number }) => performance.timeOrigin + at;
const unknown = { scope: "run", class: "UNKNOWN", code: "platform.effect_outcome_unconfirmed", disposition: "outcome_unknown", state: "RECONCILIATION_REQUIRED" };

describe.concurrent("after its worker was killed", () => {
  test("a run reuses the answer that was confirmed: one arrival", async () => {
    const { status, outputs, act, runId } = await of("confirmed");
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { receipt: act.arrivals()[0]!.key } });
    expect(act.arrivals()).toHaveLength(1);
    expect(stage.noted(runId).filter(({ what }) => what === "began").map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(await counts(runId)).toMatchObject({ crashes: 0, losses: 1 }); // the death was shared
  });

  test("an idempotent write is sent again under the same key with the same body", async () => {
    const { status, act, runId } = await of("idempotent");
    expect(status).toBe("completed");
    expect(act.arrivals()).toHaveLength(2);
    expect(new Set(act.arrivals().map(({ key, digest }) => `${key} ${digest}`)).size).toBe(1);
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", launchNo: 2 }]);
  });

  test("an effect that only reads is repeated", async () => {
    const { status, act } = await of("read");
    expect([status, act.arrivals().length]).toEqual(["completed", 2]);
  });

  test("an idempotent write whose key the destination has forgotten is not sent again", async () => {
    const { status, act, runId } = await of("forgotten");
    expect([status, act.arrivals().length]).toEqual(["failed", 1]);
    expect(await stage.letters(runId)).toMatchObject([unknown]);
  });

  test("a write that must not be repeated is asked about only after the quiet instant, and its answer reused when it happened", async () => {
    const { status, outputs, act, runId } = await of("happened");
    expect({ status, outputs }).toEqual({ status: "completed", outputs: { receipt: "found" } });
    expect([act.arrivals().length, act.asks().length]).toEqual([1, 1]);
    const { quiet, launched } = await quietAt(runId);
    expect(quiet.getTime() - launched.getTime()).toBe(SEND_GRACE_MS + 3_000);
    expect(wallOf(act.asks()[0]!)).toBeGreaterThanOrEqual(quiet.getTime());
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", via: "reconciler", launchNo: 1 }]);
  });

  test("a write that must not be repeated is sent once more, under its key, when it did not happen", async () => {
    const { status, act, runId } = await of("did not");
    expect(status).toBe("completed");
    expect(act.arrivals().map(({ accepted }) => accepted)).toEqual([false, true]);
    expect(new Set(act.arrivals().map(({ key }) => key)).size).toBe(1);
    expect(act.asks()).toHaveLength(1);
    expect(act.asks()[0]!.at - act.arrivals()[0]!.at).toBeGreaterThanOrEqual(TIMEOUT_MS - 350); // the launch was before the arrival
    expect(await stage.effects(runId)).toMatchObject([{ state: "confirmed", via: "answer", launchNo: 2 }]);
    expect(stage.noted(runId).filter(({ what }) => what === "launched").map(({ launch }) => launch)).toEqual([1, 2]);
  });

  test("a write that happened in part is left to an operator", async () => {
    const { status, act, runId } = await of("partly");
    expect([status, act.arrivals().length, act.asks().length]).toEqual(["failed", 1, 1]);
    expect(await stage.letters(runId)).toMatchObject([unknown]);
  });

  test("a write that nobody can be asked about is given up after the quiet instant and never sent again", async () => {
    const { status, types, act, runId } = await of("nobody");
    expect([status, act.arrivals().length]).toEqual(["failed", 1]);
    expect(types.slice(-3)).toEqual(["node.failed", "run.dead-lettered", "run.failed"]);
    expect(await stage.letters(runId)).toMatchObject([unknown]);
    const { quiet, finished } = await quietAt(runId);
    expect(finished.getTime()).toBeGreaterThanOrEqual(quiet.getTime());
    const error = (await stage.client.runs.get(runId)).error;
    expect(error?.message).toContain("Outcome unknown");
  });

  test("two runs that share a business key share the repeat of its one launch: both complete by one acceptance", async () => {
    const [first, second] = [await of("shared"), await of("second shared")];
    expect([first.status, second.status]).toEqual(["completed", "completed"]);
    expect(second.outputs).toEqual(first.outputs);
    expect(first.act.arrivals().map(({ accepted }) => accepted)).toEqual([true, false]);
  });

  test("two runs that share a business key share its unknown outcome, and both dead letters name the one effect", async () => {
    const [first, second] = [await of("shared and lost"), await of("second shared and lost")];
    expect([first.status, second.status, first.act.arrivals().length]).toEqual(["failed", "failed", 1]);
    const letters = await stage.sql<{ disposition: string; effects: string[] }>("select disposition, effect_ids as effects from dead_letters where run_id = any($1::uuid[])", [[bare(first.runId), bare(second.runId)]]);
    const [effect] = await stage.sql<{ id: string }>("select id from effects where run_id = $1", [bare(first.runId)]);
    expect(letters).toEqual(Array.from({ length: 2 }, () => ({ disposition: "outcome_unknown", effects: [effect!.id] })));
  });

  test("a reconciler that gives no answer is asked five times, further and further apart, then the outcome is unknown", async () => {
    const { runId, act } = lost.get("silent")!;
    await until("the run to wait for the reconciliation", async () => {
      const [row] = await stage.sql("select 1 from runs where id = $1 and owner is null and status = 'waiting-external' and waiting_on = 'reconciliation'", [bare(runId)]);
      return row;
    });
    const { status } = await of("silent");
    expect([status, act.arrivals().length, act.asks().length]).toEqual(["failed", 1, 5]);
    const gaps = act.asks().slice(1).map(({ at }, index) => at - act.asks()[index]!.at);
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(1_000 * 2 ** index - 20);
    expect(await stage.letters(runId)).toMatchObject([unknown]);
    expect(await stage.effects(runId)).toMatchObject([{ state: "unknown", launchNo: 1, asks: 5 }]);
  });
});

test("and through all of it logs, executions and the outside ledger stand", async () => { await checkStanding(stage, { SIGKILL: 1 }); });
