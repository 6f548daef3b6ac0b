import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { PauseCut } from "./interrupts.js";
import { severed } from "./severed.js";

test("the effects of an execution are severed with it", () => {
  const cut = new AbortController();
  const signal = severed(cut.signal);
  expect(signal.aborted).toBe(false);
  const reason = new Error("the hold is lost");
  cut.abort(reason);
  expect(signal.reason).toBe(reason);
  expect(severed(cut.signal).reason).toBe(reason);
  expect(severed(AbortSignal.abort(reason)).reason).toBe(reason);
});

test("not by a pause: what is under way goes on to its answer", () => {
  const cut = new AbortController();
  const signal = severed(cut.signal);
  cut.abort(new PauseCut());
  expect(signal.aborted).toBe(false);
});

test("a thousand effects of one execution leave one listener", () => {
  const cut = new AbortController();
  for (let index = 0; index < 1_000; index++) severed(cut.signal);
  expect(getEventListeners(cut.signal, "abort")).toHaveLength(1);
});
