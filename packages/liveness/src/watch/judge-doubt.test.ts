import { expect, test } from "vitest";
import { judgeDoubt } from "./judge-doubt.js";

const gone = { live: true, connected: false, mine: true, whole: true, lifelines: 5, free: 1 };

test("a peer without any session is suspected by a witness whose own session stayed whole", () => {
  expect(judgeDoubt(gone)).toBe("suspected");
});

test("a peer that still has a session is cleared", () => {
  expect(judgeDoubt({ ...gone, connected: true })).toBe("cleared");
});

test("a peer that has lapsed or ended is nobody's suspect", () => {
  expect(judgeDoubt({ ...gone, live: false })).toBe("gone");
});

test("when half of all lifelines are free it is not the peer that went", () => {
  expect(judgeDoubt({ ...gone, lifelines: 4, free: 2 })).toBe("undecided");
  expect(judgeDoubt({ ...gone, lifelines: 5, free: 2 })).toBe("suspected");
});

test("a witness that was cut off itself suspects nobody", () => {
  expect(judgeDoubt({ ...gone, whole: false })).toBe("undecided");
});
