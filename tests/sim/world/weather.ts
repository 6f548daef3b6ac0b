import type { Chance } from "./chance.js";

/** What a seed's fleet is made of and what befalls it. Chances are per step. */
export type Weather = {
  workers: number;
  runs: number;
  supervisor: boolean;
  relay: boolean;
  broker: "redis" | "none";
  /** A statement's answer is lost after its commit, or it is lost before it. */
  lostReply: number;
  lostBefore: number;
  contention: number;
  lateReply: number;
  /** Two statements overlap, or one is paused between its snapshot and its locks. */
  overlap: number;
  pause: number;
  kill: number;
  freeze: number;
  /** Main stands still while its heartbeat thread goes on. */
  wedge: number;
  drain: number;
  cutSession: number;
  outage: number;
  /** A session takes up to two seconds to stand. */
  slowConnect: number;
  clockStep: number;
  cancel: number;
  repeat: number;
  /** An operator pauses a run, or lets one go on; forks one. */
  operatorPause: number;
  fork: number;
  stray: number;
  /** Retention comes by, or a run is pinned. */
  tidy: number;
  /** The broker never takes a ticket of one run of these. */
  guilty: number;
  /** Workflows that are asked for more often than others. */
  favours: readonly string[];
  ticketLost: number;
  ticketTwice: number;
  flush: number;
  outside: { refuse: number; silent: number; broken: number };
};

const calm: Omit<Weather, "workers" | "runs" | "supervisor" | "relay" | "broker"> = {
  lostReply: 0, lostBefore: 0, contention: 0, lateReply: 0.1, overlap: 0.02, pause: 0.02, kill: 0, freeze: 0, wedge: 0, drain: 0, cutSession: 0, outage: 0, slowConnect: 0.01, clockStep: 0,
  cancel: 0.003, operatorPause: 0.004, fork: 0.006, repeat: 0.01, stray: 0.01, tidy: 0, guilty: 0.02, favours: [], ticketLost: 0.02, ticketTwice: 0.1, flush: 0, outside: { refuse: 0.1, silent: 0.05, broken: 0.05 },
};

const kinds: readonly { name: string; share: number; change: Partial<Weather> }[] = [
  { name: "races", share: 4, change: { overlap: 0.2, pause: 0.25, cancel: 0.01, stray: 0.03, tidy: 0.01 } },
  { name: "lost replies", share: 4, change: { lostReply: 0.12, lostBefore: 0.06, contention: 0.04, lateReply: 0.3, stray: 0.03 } },
  { name: "deaths", share: 4, change: { kill: 0.012, lostReply: 0.02, pause: 0.06, favours: ["poison", "waits", "long"] } },
  { name: "freezes", share: 2, change: { freeze: 0.02, wedge: 0.01, lateReply: 0.3, overlap: 0.05 } },
  { name: "drains", share: 2, change: { drain: 0.015, lateReply: 0.4, lostReply: 0.03 } },
  { name: "cuts", share: 2, change: { cutSession: 0.03, lostReply: 0.06, lateReply: 0.3, slowConnect: 0.3 } },
  { name: "outage", share: 2, change: { outage: 0.015, stray: 0, slowConnect: 0.4 } },
  { name: "clock", share: 1, change: { clockStep: 0.015, stray: 0.04 } },
  { name: "bad world", share: 3, change: { outside: { refuse: 0.25, silent: 0.25, broken: 0.25 }, kill: 0.004, lostReply: 0.05, freeze: 0.004, pause: 0.1, favours: ["pays", "wires", "blind", "shares", "meets"] } },
  { name: "operators", share: 4, change: { operatorPause: 0.06, fork: 0.04, overlap: 0.1, pause: 0.25, cancel: 0.01, lostReply: 0.03, kill: 0.003, lateReply: 0.3, tidy: 0.02, favours: ["waits", "long", "fails"] } },
  { name: "crowd", share: 2, change: { workers: 2, runs: 9, kill: 0.01, lateReply: 0.4, ticketTwice: 0.2, drain: 0.006, favours: ["long", "waits"] } },
  { name: "brinks", share: 2, change: { pause: 0.2, overlap: 0.1, kill: 0.003, favours: ["brink", "late"] } },
  { name: "everything", share: 3, change: { lostReply: 0.04, lostBefore: 0.03, contention: 0.03, overlap: 0.08, pause: 0.08, kill: 0.006, freeze: 0.006, wedge: 0.003, drain: 0.004, cutSession: 0.006, cancel: 0.008, flush: 0.01, ticketLost: 0.1, stray: 0.02 } },
];

/** Draws a seed's weather: one of a few kinds, so that each is met often enough to be deep. */
export function drawWeather(chance: Chance): Weather & { name: string } {
  const lots = kinds.flatMap((kind) => Array.from({ length: kind.share }, () => kind));
  const { name, change } = chance.pick(lots);
  return {
    name, workers: 2 + chance.below(2), runs: 2 + chance.below(4), supervisor: chance.flip(0.6), relay: chance.flip(0.7), broker: chance.flip(0.8) ? "redis" : "none",
    ...calm, ...change,
  };
}
