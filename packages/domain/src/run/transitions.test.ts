import { expect, test } from "vitest";
import { claimableStatuses, isTerminal, terminalStatuses, transitions, type RunStatus, type Transition } from "./transitions.js";

const table: [string, Transition][] = Object.entries(transitions);

test("nothing leaves a terminal state", () => {
  expect(table.filter(([, { from }]) => from.some(isTerminal)).map(([verb]) => verb)).toEqual([]);
});

test("every move out of running presents, takes or seizes a fence, or moves only what nobody holds", () => {
  for (const [verb, { from, fence }] of table) {
    if (from.includes("running")) expect(["take", "hold", "drop", "lapsed", "suspected", "seize", "none"], verb).toContain(fence);
  }
  expect(table.filter(([, { from, fence, by }]) => from.includes("running") && fence === "none" && by !== "api").map(([verb]) => verb)).toEqual([]);
});

test("every move that leaves a run claimable without an owner announces it", () => {
  const leavesUnheld = ["drop", "lapsed", "suspected"];
  for (const [verb, { to, fence, announces, from }] of table) {
    const claimable = to.some((status) => status === "same" || (claimableStatuses as readonly RunStatus[]).includes(status));
    if (claimable && (leavesUnheld.includes(fence) || from.length === 0)) expect(announces, verb).toBe(true);
  }
});

test("a move that takes a run away from its holder without its word counts what it costs", () => {
  for (const [verb, { fence, counts }] of table) {
    if (fence === "lapsed" || fence === "suspected") expect(counts, verb).toMatch(/loss/);
  }
});

test("only claims take a fence, and every one of them ends in running", () => {
  expect(table.filter(([, { fence }]) => fence === "take").map(([verb, { to }]) => [verb, to])).toEqual([["claim", ["running"]], ["sweep", ["running"]]]);
});

test("the terminal statuses are completed, failed and cancelled, and each can be reached", () => {
  const reached = new Set(table.flatMap(([, { to }]) => to));
  for (const status of terminalStatuses) {
    expect(isTerminal(status)).toBe(true);
    expect(reached.has(status)).toBe(true);
  }
  expect((["pending", "running", "paused", "waiting-external", "cancelling"] as const).some(isTerminal)).toBe(false);
});

test("every move names the statement that makes it", () => {
  for (const [verb, { statement }] of table) expect(statement, verb).toMatch(/^runs\.[a-z_]+$/);
});
