import { describe, expect, it } from "vitest";
import { parseRunEvent } from "./run-event.js";
import { streamFilter } from "./stream-modes.js";

const envelope = {
  eventId: "0190a1b2-0000-7000-8000-000000000000",
  runId: "acme/0190a1b2-0000-7000-8000-000000000000",
  timestamp: "2026-01-01T00:00:00.000Z",
  sequence: 0,
  schemaVersion: 3,
  engineVersion: 1,
};

describe("a run event", () => {
  it("is accepted with the payload of its type", () => {
    expect(parseRunEvent({ ...envelope, type: "node.started", payload: { nodeId: "a", typeId: "core.noop", attempt: 0 } })).toHaveProperty("event");
  });

  it("is refused with a payload of another type, and the path is named", () => {
    expect(parseRunEvent({ ...envelope, type: "node.started", payload: { reason: "x" } })).toEqual({
      wrong: expect.stringContaining("payload.nodeId") as string,
    });
  });

  it("is refused with an unknown envelope member or type", () => {
    expect(parseRunEvent({ ...envelope, type: "node.started", payload: {}, extra: 1 })).toHaveProperty("wrong");
    expect(parseRunEvent({ ...envelope, type: "run.dead_lettered", payload: {} })).toHaveProperty("wrong");
  });

  it("takes prefixed extra members only where the type is extensible", () => {
    const lease = { leaseId: "l", host: "cloud", instanceId: "i" };
    expect(parseRunEvent({ ...envelope, type: "lease.acquired", payload: { ...lease, "x-trigger": "t" } })).toHaveProperty("event");
    expect(parseRunEvent({ ...envelope, type: "lease.acquired", payload: { ...lease, trigger: "t" } })).toHaveProperty("wrong");
    expect(parseRunEvent({ ...envelope, type: "node.skipped", payload: { nodeId: "a", "x-b": 1 } })).toHaveProperty("wrong");
  });
});

describe("stream modes", () => {
  it("refuse what stands outside the grammar", () => {
    for (const mode of ["bogus", "", "updates,", "values,debug", "debug, updates"]) expect(streamFilter(mode)).toBeUndefined();
  });

  it("show a dead letter to updates, and everything to debug", () => {
    expect(streamFilter("updates")?.("run.dead-lettered")).toBe(true);
    expect(streamFilter("updates")?.("lease.acquired")).toBe(false);
    expect(streamFilter("updates,debug")?.("lease.acquired")).toBe(true);
    expect(streamFilter("messages")?.("run.started")).toBe(false);
  });
});
