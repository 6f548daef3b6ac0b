import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { relaunchEffect } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker, hold, launch, launchOf, settle } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

const idempotent = { class: "idempotent_write", keyRetentionMs: 60_000 } as const;

/** An effect whose first launch was never answered and whose second is under way. */
async function sentAgain() {
  const held = await hold(bench.db, await beginWorker(bench.db));
  const row = launchOf(held, idempotent);
  await launch(bench.db, row);
  const again = await relaunchEffect(bench.db, { ...row, launchId: randomUUID() }, { effectId: row.effectId, launchNo: 1, state: "launched", ownLaunch: true });
  expect(again).toMatchObject({ kind: "launched", launchNo: 2 });
  return { held, row, effect: { effectId: row.effectId, launchNo: 2, runId: held.runId } };
}

const stateOf = async (id: string) => (await bench.sql<{ state: string; unclear: boolean }>("select state, unclear from effects where id = $1", [id]))[0];

test.each(["refusal", "unsent"] as const)("a second launch that ends by %s says nothing of the first: the effect stays unsettled", async (via) => {
  const { held, effect } = await sentAgain();
  expect(await settle(bench.db, { ...effect, outcome: "absent", via })).toEqual({ kind: "unclear" });
  expect(await stateOf(effect.effectId)).toEqual({ state: "launched", unclear: true });
  expect((await bench.sql<{ open_effects: number }>("select open_effects from runs where id = $1", [held.runId]))[0]?.open_effects).toBe(1);
});

test("another request under that identity is a conflict, not a new launch", async () => {
  const { row, effect, held } = await sentAgain();
  await settle(bench.db, { ...effect, outcome: "absent", via: "refusal" });
  const other = await launch(bench.db, { ...row, launchId: randomUUID(), effectId: randomUUID(), requestDigest: "ab".repeat(32), runId: held.runId });
  expect(other).toMatchObject({ kind: "recorded", effect: { state: "launched", sameDigest: false } });
});

test("a reconciler's word or an answer settles it for all launches", async () => {
  const [asked, answered] = [await sentAgain(), await sentAgain()];
  expect(await settle(bench.db, { ...asked.effect, outcome: "absent", via: "reconciler" })).toEqual({ kind: "settled" });
  expect(await stateOf(asked.effect.effectId)).toEqual({ state: "absent", unclear: false });
  expect(await settle(bench.db, { ...answered.effect, outcome: "confirmed", via: "answer", answer: {} })).toEqual({ kind: "settled" });
  expect(await stateOf(answered.effect.effectId)).toEqual({ state: "confirmed", unclear: false });
});
