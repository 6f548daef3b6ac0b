import { expect, test } from "vitest";
import { createWitness } from "./create-witness.js";

const peer = (ageMs: number, beatNo = "7", id = "p") => ({ id, beatNo, ageMs, leaseMs: 3_000 });
const at = (sentMs: number, overdue: ReturnType<typeof peer>[]) => ({ sentMs, answeredMs: sentMs + 10, overdue });

test("a peer may be lapsed once its lease is over, and not before two heartbeats of the witness", () => {
  const witness = createWitness({ heartbeatMs: 1_000 });
  witness.note(at(0, []));
  expect(witness.note(at(1_000, [peer(1_100)]))).toEqual([{ id: "p", beatNo: "7", atMs: 1_010 + 2_000 }]);
  expect(witness.note(at(2_000, [peer(2_100)]))).toEqual([{ id: "p", beatNo: "7", atMs: 3_010 }]);
});

test("a longer lease is waited for to its end", () => {
  const witness = createWitness({ heartbeatMs: 1_000 });
  witness.note(at(0, []));
  expect(witness.note(at(1_000, [{ ...peer(8_100), leaseMs: 10_000 }]))[0]?.atMs).toBe(1_010 + 2_000);
  expect(createWitness({ heartbeatMs: 500 }).note(at(0, [{ ...peer(9_050), leaseMs: 10_000 }]))[0]?.atMs).toBe(10 + 1_000);
});

test("a beat in between starts the silence anew", () => {
  const witness = createWitness({ heartbeatMs: 1_000 });
  witness.note(at(0, []));
  witness.note(at(1_000, [peer(1_100, "7")]));
  expect(witness.note(at(3_000, [peer(1_050, "8")]))[0]?.atMs).toBe(5_010);
  expect(witness.note(at(4_000, []))).toEqual([]);
});

test("an age that cannot be, since the peer was not overdue a heartbeat ago, is a step of the clock: the whole lease must pass in silence", () => {
  const witness = createWitness({ heartbeatMs: 1_000 });
  witness.note(at(0, []));
  expect(witness.note(at(1_000, [peer(300_000)]))[0]?.atMs).toBe(1_010 + 3_000);
});

test("a beat in the future is a step of the clock", () => {
  const witness = createWitness({ heartbeatMs: 1_000 });
  witness.note(at(0, []));
  expect(witness.note(at(1_000, [peer(-5_000)]))[0]?.atMs).toBe(1_010 + 3_000);
});

test("after a reconnection nothing seen before counts", () => {
  const witness = createWitness({ heartbeatMs: 1_000 });
  witness.note(at(0, [peer(2_900)]));
  witness.forget();
  expect(witness.note(at(10_000, [peer(12_900)]))[0]?.atMs).toBe(12_010);
});
