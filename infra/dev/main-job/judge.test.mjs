import { describe, expect, it } from "vitest";
import { judge } from "./judge.mjs";
import { readTakeovers } from "./read-takeovers.mjs";

const bounds = [{ class: "severed", bound: 850 }, { class: "leased", bound: 4_500 }];
const classOfTrigger = (trigger) => ({ session_lost: "severed", heartbeat_expired: "leased" })[trigger];
const kill = { victim: { incarnation: "dead" }, exit: { code: null, signal: "SIGKILL" }, killedAt: 10_000, killedAtWall: Date.parse("2026-01-01T00:00:10Z") };

function logOf(events) {
  return events.map(([type, payload = {}, arrivedAt = 10_000, timestamp = "2026-01-01T00:00:10Z"]) => ({ event: { type, payload, timestamp }, arrivedAt }));
}

const resumed = (trigger, arrivedAt) => logOf([
  ["lease.acquired", { instanceId: "dead" }, 9_000],
  ["lease.lost", { instanceId: "dead", "x-trigger": trigger }, arrivedAt],
  ["lease.acquired", { instanceId: "peer" }, arrivedAt, "2026-01-01T00:00:13Z"],
  ["workflow.restored", { "x-trigger": trigger }, arrivedAt],
  ["run.completed", {}, arrivedAt + 50],
]);
const untouched = logOf([["lease.acquired", { instanceId: "peer" }, 9_000], ["run.completed", {}, 9_500]]);
const arrival = (key, accepted = true, digest = `d-${key}`) => ({ key, identity: key, digest, accepted });

function observe({ logs = [resumed("session_lost", 10_400), resumed("heartbeat_expired", 13_000), untouched], ledger = [arrival("a"), arrival("b"), arrival("b", false), arrival("c")], exit = kill.exit } = {}) {
  const watch = { logs: new Map(logs.map((log, index) => [`run-${index}`, log])) };
  const seen = { ...kill, exit };
  return judge({
    services: { postgres: "embedded", broker: "redis" }, submitted: 3, accepted: 3, watch, kill: seen, ledger,
    takeovers: readTakeovers({ logs: watch.logs, kill: seen, bounds, classOfTrigger }),
    inFlight: [{ runId: "run-1", providerKey: "b", at: "2026-01-01T00:00:09Z" }],
  });
}
const broken = (seen) => seen.claims.filter(({ holds }) => !holds).map(({ claim }) => claim);

describe("the main job's document", () => {
  it("holds when every run was resumed in time and every effect was done once", () => {
    const seen = observe();
    expect(broken(seen)).toEqual([]);
    expect(seen.document).toEqual({
      ok: true,
      services: { postgres: "embedded", broker: "redis" },
      runs: { accepted: 3, completed: 3, failed: 0 },
      kill: {
        signal: "SIGKILL", incarnation: "dead", resumed: 2, resumedBy: ["peer"],
        takeovers: [
          { class: "severed", trigger: "session_lost", observedMs: 400, boundMs: 850 },
          { class: "leased", trigger: "heartbeat_expired", observedMs: 3_000, boundMs: 4_500 },
        ],
        class: "leased", observedMs: 3_000, boundMs: 4_500,
      },
      effects: { identities: 3, accepted: 3, arrivals: 4, repeats: 1, inFlightAtKill: 1, maxAcceptedPerIdentity: 1 },
    });
  });

  it("is broken by a resumption past its bound", () => {
    expect(broken(observe({ logs: [resumed("session_lost", 10_900), resumed("heartbeat_expired", 13_000), untouched] }))).toEqual(["each was resumed within the declared bound of its class"]);
  });

  it("is broken by a run that nobody resumed", () => {
    expect(broken(observe({ logs: [resumed("session_lost", 10_400).slice(0, 2), resumed("heartbeat_expired", 13_000), untouched] }))).toContain("it held runs when it died, and a peer resumed each of them");
  });

  it("is broken by an effect done twice under two keys", () => {
    const twice = [arrival("a"), arrival("b"), { ...arrival("b2"), identity: "b" }, arrival("c")];
    expect(broken(observe({ ledger: twice }))).toContain("the receiver did each effect exactly once");
  });

  it("is broken by a repeat of an effect that was not in flight, and by one with another body", () => {
    expect(broken(observe({ ledger: [arrival("a"), arrival("a", false), arrival("b"), arrival("c")] }))).toEqual(["only those were sent again, under the same key"]);
    expect(broken(observe({ ledger: [arrival("a"), arrival("b"), arrival("b", false, "other"), arrival("c")] }))).toEqual(["every repeat carried the same body"]);
  });

  it("is broken by a second end in a log, and by a worker that ended in another way", () => {
    const twice = [...untouched, ...logOf([["run.completed"]])];
    expect(broken(observe({ logs: [resumed("session_lost", 10_400), resumed("heartbeat_expired", 13_000), twice] }))).toEqual(["every run has exactly one end in its log"]);
    expect(broken(observe({ exit: { code: 0, signal: null } }))).toEqual(["the worker really died: its parent saw SIGKILL end it"]);
  });
});
