import { expect, test } from "vitest";
import { readTicket } from "./read-ticket.js";

const id = "0190f5f0-1111-7abc-8abc-0123456789ab";

test("a ticket names 1 to 32 runs, each once", () => {
  expect(readTicket(JSON.stringify({ runs: [id, id] }))).toEqual({ runIds: [id], bad: [] });
});

test.each([
  ["", "unparsable"], ["{", "unparsable"], ["null", "no_run_ids"], ["{}", "no_run_ids"], ["{\"runs\":\"x\"}", "no_run_ids"], ["{\"runs\":[]}", "no_run_ids"],
  [JSON.stringify({ runs: Array.from({ length: 33 }, () => id) }), "too_many_runs"],
])("%s is no ticket", (raw, reason) => {
  expect(readTicket(raw)).toEqual({ runIds: [], bad: [{ raw, reason }] });
});

test("a bad id does not spoil its good neighbours", () => {
  expect(readTicket(JSON.stringify({ runs: [id, id.toUpperCase(), 7] }))).toEqual({
    runIds: [id], bad: [{ raw: JSON.stringify(id.toUpperCase()), reason: "no_run_ids" }, { raw: "7", reason: "no_run_ids" }],
  });
});

test("a huge message is handed on cut", () => {
  expect(readTicket("x".repeat(100_000)).bad[0]?.raw).toHaveLength(16_384);
});
