import { StatementTimeout, type Channel, type Statement } from "@mainstay/database";
import type { TicketConsumerOptions } from "@mainstay/broker";
import type { Chance } from "./chance.js";
import { currentProcess, deliver, isDead, type SimProcess } from "./process.js";
import type { Time } from "./time.js";

/** One connection of its own, as the model sees it: its locks, its wait, its hints. */
export type SimSession = {
  readonly pid: number;
  readonly process: SimProcess | undefined;
  whole: boolean;
  readonly openedAt: number;
  readonly locks: Set<string>;
  onHint: ((channel: Channel) => void) | undefined;
  wait: { key: string; resolve: (rows: unknown[]) => void; reject: (error: Error) => void } | undefined;
  readonly lockTimeoutMs: number;
  end: (reason: string) => void;
};

/** A statement that a process has sent, or is about to send: one step of the simulation. */
export type Call = {
  readonly id: number;
  readonly process: SimProcess | undefined;
  readonly session: SimSession | undefined;
  readonly statement: Statement<unknown>;
  readonly values: readonly unknown[];
  readonly expiresAt: number;
  resolve: (rows: unknown[]) => void;
  reject: (error: Error) => void;
};

/** A worker's side of the modelled broker. */
export type Consumer = { process: SimProcess | undefined; options: TicketConsumerOptions; stopped: boolean };

/** The modelled broker: tickets in the order they rang, until the seed takes one, loses it or rings it twice. */
export type Broker = {
  up: boolean;
  tickets: { pool: string; runs: readonly string[] }[];
  consumers: Consumer[];
  publish: (pool: string, runs: readonly string[]) => void;
  /** Whether this publication's answer gets lost. */
  answersLost: () => boolean;
  /** Runs whose tickets it never takes, with whatever comes along in one publication. */
  readonly guilty: Set<string>;
};

export type World = {
  readonly chance: Chance;
  readonly time: Time;
  readonly broker: Broker;
  readonly sessions: Set<SimSession>;
  calls: Call[];
  /** The database takes no connection. */
  outage: boolean;
  nextPid: () => number;
  send: (sent: { statement: Statement<unknown>; values: readonly unknown[]; session?: SimSession; timeoutMs: number }) => Promise<unknown[]>;
  /** A session is cut: its locks are free at once, its owner learns it when it can. */
  cut: (session: SimSession, reason: string) => void;
  endSessionsOf: (process: SimProcess, reason: string) => void;
  dropCallsOf: (session: SimSession) => void;
  /** An answer on its way to who asked, at once or late. */
  answer: (call: Call, outcome: { rows: unknown[] } | { error: Error }, delayMs?: number) => void;
  note: (line: string) => void;
  hintsLost: number;
  /** How many sessions take long to stand: a share. */
  slowConnect: number;
};

const LIFELINE = 5_067_604;
let current: World | undefined;

/** The world of the seed that runs now: what stands in Node's and the broker's place asks it. */
export function theWorld(): World {
  if (current === undefined) throw new Error("no seed runs");
  return current;
}

const lockOf = (lockClass: unknown, lifeline: unknown): string => `${Number(lockClass)}/${(BigInt(String(lifeline)) % 2_147_483_647n).toString()}`;
const lost = (): Error => new Error("Connection terminated unexpectedly");
const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

export function createWorld({ chance, time, note }: { chance: Chance; time: Time; note: (line: string) => void }): World {
  let lastPid = 100;
  let lastCall = 0;
  const sessions = new Set<SimSession>();

  const wakeWaiters = (): void => {
    for (const session of sessions) {
      const { wait } = session;
      if (wait === undefined || [...sessions].some((other) => other.locks.has(wait.key))) continue;
      session.wait = undefined;
      deliver(session.process, () => { wait.resolve([{ freed: "" }]); });
    }
  };
  const modelled: Readonly<Record<string, (call: Call) => void>> = {
    "incarnations.hold_lifeline": (call) => {
      const key = lockOf(call.values[0], call.values[1]);
      const held = ![...sessions].some((other) => other !== call.session && other.locks.has(key));
      if (held) call.session?.locks.add(key);
      call.resolve([{ held }]);
    },
    "incarnations.await_lifeline": (call) => {
      const { session } = call;
      if (session === undefined) throw new Error("a lifeline is awaited on a session");
      const wait = { key: lockOf(LIFELINE, call.values[0]), resolve: call.resolve, reject: call.reject };
      session.wait = wait;
      time.after(session.lockTimeoutMs, () => {
        if (session.wait !== wait) return;
        session.wait = undefined;
        deliver(session.process, () => { wait.reject(coded("55P03", "canceling statement due to lock timeout")); });
      });
      wakeWaiters();
    },
    "incarnations.end_wait": (call) => {
      for (const session of sessions) {
        if (session.pid !== call.values[0] || session.wait === undefined) continue;
        const { wait } = session;
        session.wait = undefined;
        deliver(session.process, () => { wait.reject(coded("57014", "canceling statement due to user request")); });
      }
      call.resolve([{ told: true }]);
    },
    "hints.notify": (call) => {
      for (const session of sessions) {
        if (chance.flip(world.hintsLost)) continue;
        time.after(chance.below(4), () => { deliver(session.process, () => session.onHint?.(call.values[0] as Channel)); });
      }
      call.resolve([{ sent: "" }]);
    },
  };

  const world: World = {
    chance, time, sessions, note, calls: [], outage: false, hintsLost: 0.05, slowConnect: 0,
    nextPid: () => (lastPid += 1),
    broker: {
      up: true, tickets: [], consumers: [],
      publish: (pool, runs) => { world.broker.tickets.push({ pool, runs: [...runs] }); },
      answersLost: () => false,
      guilty: new Set(),
    },
    send: ({ statement, values, session, timeoutMs }) => new Promise((resolve, reject) => {
      const call: Call = { id: (lastCall += 1), process: currentProcess(), session, statement, values, expiresAt: time.now() + timeoutMs, resolve, reject };
      const modelledHere = modelled[statement.name];
      if (world.outage) world.answer(call, { error: lost() }, 5);
      else if (modelledHere !== undefined) modelledHere(call);
      else world.calls.push(call);
    }),
    cut: (session, reason) => {
      const { wait } = session;
      sessions.delete(session);
      session.locks.clear();
      session.wait = undefined;
      for (const call of world.calls.filter((one) => one.session === session)) world.answer(call, { error: lost() });
      world.dropCallsOf(session);
      deliver(session.process, () => {
        wait?.reject(lost());
        session.end(reason);
      });
      wakeWaiters();
    },
    endSessionsOf: (owner, reason) => {
      for (const session of [...sessions]) if (session.process === owner || session.process?.parent === owner) world.cut(session, reason);
    },
    dropCallsOf: (session) => {
      world.calls = world.calls.filter((call) => call.session !== session);
      const { wait } = session;
      session.wait = undefined;
      if (wait !== undefined) deliver(session.process, () => { wait.reject(lost()); });
      wakeWaiters();
    },
    answer: (call, outcome, delayMs = 0) => {
      world.calls = world.calls.filter((one) => one !== call);
      const give = (): void => {
        deliver(call.process, () => {
          if ("rows" in outcome) call.resolve(outcome.rows);
          else call.reject(outcome.error);
        });
      };
      if (delayMs > 0) time.after(delayMs, give);
      else give();
    },
  };
  current = world;
  return world;
}

/** What the client has given up waiting for; whether it was executed is the seed's. */
export const timedOut = (call: Call): Error => new StatementTimeout(call.statement.name, 2_500);

/** Statements of the dead are never sent. */
export function dropDead(world: World): void {
  world.calls = world.calls.filter(({ process }) => process === undefined || !isDead(process));
  world.broker.consumers = world.broker.consumers.filter(({ process, stopped }) => !stopped && (process === undefined || !isDead(process)));
}
