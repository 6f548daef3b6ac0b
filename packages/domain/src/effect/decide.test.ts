import fc from "fast-check";
import { expect, test } from "vitest";
import { askDelayMs, decideEffect, MAX_ASKS, wireEffectState, type EffectDecision, type RecordedEffect } from "./decide.js";

const recorded = (more: Partial<RecordedEffect>): RecordedEffect =>
  ({ state: "launched", class: "non_idempotent_write", launchNo: 1, sameDigest: true, holderGone: true, quiet: true, keyRemembered: false, asks: 0, ...more });

const rows: readonly [string, Partial<RecordedEffect>, boolean, EffectDecision["do"]][] = [
  ["a confirmed answer for the same request is reused", { state: "confirmed" }, false, "reuse"],
  ["a confirmed answer for another request is a conflict", { state: "confirmed", sameDigest: false }, true, "conflict"],
  ["a launched effect for another request is a conflict", { sameDigest: false }, true, "conflict"],
  ["what surely did not happen is launched again", { state: "absent" }, false, "relaunch"],
  ["what surely did not happen may be launched with a changed request", { state: "absent", sameDigest: false }, false, "relaunch"],
  ["another live claim's launch is waited for", { holderGone: false }, true, "wait"],
  ["another live claim's idempotent launch is waited for, not sent twice", { holderGone: false, class: "idempotent_write", keyRemembered: true }, true, "wait"],
  ["a dead holder's read is made again", { class: "read_only", quiet: false }, false, "relaunch"],
  ["a dead holder's idempotent write is sent again while the key is remembered", { class: "idempotent_write", keyRemembered: true, quiet: false }, false, "relaunch"],
  ["an idempotent write whose key may be forgotten is asked about", { class: "idempotent_write" }, true, "reconcile"],
  ["an idempotent write whose key may be forgotten and that nobody can be asked about is given up", { class: "idempotent_write" }, false, "give_up"],
  ["an unsafe write is asked about after the quiet instant", {}, true, "reconcile"],
  ["an unsafe write is not asked about before the quiet instant", { quiet: false }, true, "wait_quiet"],
  ["an unsafe write without a reconciler is not given up before the quiet instant", { quiet: false }, false, "wait_quiet"],
  ["an unsafe write without a reconciler is given up", {}, false, "give_up"],
  ["an unsafe write is given up after the last ask", { asks: MAX_ASKS }, true, "give_up"],
  ["what was given up may still be asked about", { state: "unknown" }, true, "reconcile"],
];

for (const [sentence, facts, canAsk, decision] of rows) test(sentence, () => { expect(decideEffect(recorded(facts), { canAsk })).toEqual({ do: decision }); });

const anyRecorded = fc.record({
  state: fc.constantFrom("launched", "confirmed", "absent", "unknown"), class: fc.constantFrom("read_only", "idempotent_write", "non_idempotent_write"),
  launchNo: fc.integer({ min: 1, max: 9 }), sameDigest: fc.boolean(), holderGone: fc.boolean(), quiet: fc.boolean(), keyRemembered: fc.boolean(), asks: fc.integer({ min: 0, max: 9 }),
}) as fc.Arbitrary<RecordedEffect>;

test("an unsafe write that may have happened is never sent again without evidence", () => {
  fc.assert(fc.property(anyRecorded, fc.boolean(), (facts, canAsk) => {
    if (decideEffect(facts, { canAsk }).do !== "relaunch") return;
    expect(facts.state === "absent" || facts.class === "read_only" || (facts.class === "idempotent_write" && facts.keyRemembered)).toBe(true);
    expect(facts.state === "launched" && !facts.holderGone).toBe(false);
  }), { numRuns: 2_000 });
});

test("an answer is reused only when it is confirmed and of the same request", () => {
  fc.assert(fc.property(anyRecorded, fc.boolean(), (facts, canAsk) => {
    if (decideEffect(facts, { canAsk }).do === "reuse") expect(facts).toMatchObject({ state: "confirmed", sameDigest: true });
  }), { numRuns: 2_000 });
});

test("nobody is asked before the quiet instant, and not for ever", () => {
  fc.assert(fc.property(anyRecorded, (facts) => {
    if (decideEffect(facts, { canAsk: true }).do === "reconcile") expect(facts.quiet && facts.asks < MAX_ASKS).toBe(true);
  }), { numRuns: 2_000 });
  expect([0, 1, 2, 5, 6, 99].map(askDelayMs)).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000]);
});

test("the wire spells the four states apart", () => {
  expect(new Set(Object.values(wireEffectState)).size).toBe(4);
});
