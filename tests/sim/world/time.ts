import { currentProcess, deliver, isDead, type SimProcess } from "./process.js";

type Timer = { at: number; order: number; everyMs: number | undefined; owner: SimProcess | undefined; act: () => void; unref: () => Timer; ref: () => Timer; hasRef: () => boolean };

/** Time as data: it moves only when the scheduler moves it, for JavaScript and for the database alike. */
export type Time = {
  /** Monotonic milliseconds since the seed began. */
  now: () => number;
  /** Milliseconds since the epoch, as the database's `now()` answers; differs from the processes' by the clock's steps. */
  databaseNow: () => number;
  stepDatabase: (ms: number) => void;
  /** The database's clock is put right: never behind what it has ever said. */
  putRight: () => void;
  /** The next instant at which something is due; Infinity: nothing is. */
  nextAt: () => number;
  /** Lets `ms` pass without looking at what falls due. */
  pass: (ms: number) => void;
  /** What is due by now, in its order; undefined: nothing. */
  takeDue: () => (() => void) | undefined;
  takeImmediate: () => (() => void) | undefined;
  after: (ms: number, act: () => void, owner?: SimProcess) => void;
  /** Puts this time in the place of Node's; answers what takes it back. */
  install: (random: () => number) => () => void;
};

const EPOCH_MS = 1_900_000_000_000;

/** Node's own, for the simulation itself. */
export const realImmediate = setImmediate;

export function createTime(): Time {
  let now = 1_000;
  let skew = 0;
  let mostSkew = 0;
  let order = 0;
  let timers: Timer[] = [];
  let immediates: (() => void)[] = [];

  const add = ({ ms, act, everyMs, owner }: { ms: number; act: () => void; everyMs?: number; owner: SimProcess | undefined }): Timer => {
    const timer: Timer = { at: now + Math.max(0, Number.isFinite(ms) ? ms : 0), order: (order += 1), everyMs, owner, act, unref: () => timer, ref: () => timer, hasRef: () => true };
    timers.push(timer);
    return timer;
  };
  const remove = (timer: unknown): void => { timers = timers.filter((one) => one !== timer); };
  const first = (): Timer | undefined => {
    timers = timers.filter(({ owner }) => owner === undefined || !isDead(owner));
    let least: Timer | undefined;
    for (const timer of timers) if (least === undefined || timer.at < least.at || (timer.at === least.at && timer.order < least.order)) least = timer;
    return least;
  };

  return {
    now: () => now,
    databaseNow: () => EPOCH_MS + now + skew,
    stepDatabase: (ms) => {
      skew += ms;
      mostSkew = Math.max(mostSkew, skew);
    },
    putRight: () => { skew = mostSkew; },
    nextAt: () => first()?.at ?? Infinity,
    pass: (ms) => { now += ms; },
    takeDue: () => {
      const timer = first();
      if (timer === undefined || timer.at > now) return undefined;
      if (timer.everyMs === undefined) remove(timer);
      else timer.at = Math.max(now + 1, timer.at + timer.everyMs);
      return () => { deliver(timer.owner, timer.act); };
    },
    takeImmediate: () => immediates.shift(),
    after: (ms, act, owner) => { add({ ms, act, owner }); },
    install: (random) => {
      const kept = {
        setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, setInterval: globalThis.setInterval, clearInterval: globalThis.clearInterval,
        setImmediate: globalThis.setImmediate, now: performance.now.bind(performance), dateNow: Date.now, random: Math.random, hrtime: process.hrtime.bigint.bind(process.hrtime), timeout: AbortSignal.timeout.bind(AbortSignal),
      };
      const mine = {
        setTimeout: (act: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) => add({ ms: Math.max(1, ms), act: () => { act(...values); }, owner: currentProcess() }),
        clearTimeout: remove,
        setInterval: (act: () => void, ms = 1) => add({ ms, act, everyMs: Math.max(1, ms), owner: currentProcess() }),
        clearInterval: remove,
        setImmediate: (act: () => void) => {
          const owner = currentProcess();
          immediates.push(() => { deliver(owner, act); });
        },
      };
      Object.assign(globalThis, mine);
      performance.now = () => now;
      Date.now = () => EPOCH_MS + now;
      Math.random = random;
      process.hrtime.bigint = () => BigInt(Math.round(now * 1e6));
      AbortSignal.timeout = (ms) => {
        const controller = new AbortController();
        add({ ms, act: () => { controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")); }, owner: currentProcess() });
        return controller.signal;
      };
      return () => {
        Object.assign(globalThis, { setTimeout: kept.setTimeout, clearTimeout: kept.clearTimeout, setInterval: kept.setInterval, clearInterval: kept.clearInterval, setImmediate: kept.setImmediate });
        performance.now = kept.now;
        Date.now = kept.dateNow;
        Math.random = kept.random;
        process.hrtime.bigint = kept.hrtime;
        AbortSignal.timeout = kept.timeout;
        timers = [];
        immediates = [];
      };
    },
  };
}
