import { expect, test } from "vitest";
import { attemptPlace, placeOf } from "./attempt-context.js";

const claimId = "3f0c2a51-9b4e-4d6f-8a1b-0c2d3e4f5a6b";
const stored = "00-11112222333344445555666677778888-aaaabbbbccccdddd-01";

test("the span of a claim stands where its identity says, in a trace of its own", () => {
  expect(attemptPlace(claimId, { traceparent: stored, relation: "link" })).toEqual({
    traceId: "3f0c2a519b4e4d6f8a1b0c2d3e4f5a6b", spanId: "8a1b0c2d3e4f5a6b",
  });
});

test("as a child it stands in the run's trace, under the same span id", () => {
  expect(attemptPlace(claimId, { traceparent: stored, relation: "parent" })).toEqual({
    traceId: "11112222333344445555666677778888", spanId: "8a1b0c2d3e4f5a6b",
  });
  expect(attemptPlace(claimId, { traceparent: null, relation: "parent" }).traceId).toBe("3f0c2a519b4e4d6f8a1b0c2d3e4f5a6b");
});

test("what is no trace context names no place", () => {
  for (const text of ["", "00-zz", `00-${"0".repeat(32)}-aaaabbbbccccdddd-01`, `00-${"1".repeat(32)}-${"0".repeat(16)}-01`, null, undefined]) {
    expect(placeOf(text)).toBeUndefined();
  }
  expect(placeOf(stored)).toEqual({ traceId: "11112222333344445555666677778888", spanId: "aaaabbbbccccdddd" });
});
