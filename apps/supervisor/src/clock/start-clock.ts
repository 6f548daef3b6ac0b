import { isAway, prepareLanes, renewLanes, yieldLanes, type Database, type LaneView } from "@mainstay/database";
import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import { createHolds } from "./create-holds.js";
import type { Lane, LaneName } from "./lane.js";
import { runLane } from "./run-lane.js";

export type ClockOptions = Readonly<{
  db: Database;
  lanes: readonly Lane[];
  /** The incarnation that holds the leases; another one after a lapse. */
  holder: () => string;
  /** Of a lane's lease. */
  leaseMs: number;
  lookEveryMs: number;
  stopGraceMs: number;
  /** The work path has just reached the database. */
  attest: () => void;
  logger: Logger;
  metrics: Pick<Metrics, "laneItemFailures" | "laneLastSuccess">;
}>;

export type Clock = Readonly<{
  /** Begins no tick any more, waits for those under way, gives the lanes to another replica. */
  stop: () => Promise<void>;
}>;

/** A lane whose period is over within so many milliseconds of a look is due at that look. */
const EARLY_MS = 100;

/**
 * Runs the lanes. Every `lookEveryMs` one statement renews the leases of this replica, says which lanes it holds and
 * whether there is anything to do; a lane that holds nothing to do costs nothing more. The leases save work; nothing
 * relies on them. A tick under way begins no further item once its lane's lease is over.
 */
export function startClock(options: ClockOptions): Clock {
  const { db, lanes, logger, metrics } = options;
  const names = lanes.map(({ name }) => name);
  const dueMs = new Map<LaneName, number>();
  const running = new Map<LaneName, Promise<void>>();
  const succeeded = new Set<LaneName>();
  const holds = createHolds();
  let prepared = false;
  let away = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  const start = (lane: Lane, view: LaneView, held: AbortSignal): void => {
    dueMs.set(lane.name, performance.now() + lane.everyMs - EARLY_MS);
    if (lane.wanted?.(view) === false) { succeeded.add(lane.name); return; }
    const ticking = runLane(lane, { ...options, held }).then((cameThrough) => {
      running.delete(lane.name);
      if (cameThrough) succeeded.add(lane.name);
    });
    running.set(lane.name, ticking);
  };
  const read = async (): Promise<LaneView> => {
    if (!prepared) await prepareLanes(db, names);
    prepared = true;
    const told = [...succeeded];
    const view = await renewLanes(db, { holder: options.holder(), names, leaseMs: options.leaseMs, succeeded: told, stopGraceMs: options.stopGraceMs });
    for (const name of told) succeeded.delete(name);
    return view;
  };
  const look = async (): Promise<void> => {
    try {
      const askedMs = performance.now(); // a lease counts from before it was asked for
      const view = await read();
      options.attest();
      if (away) logger.info(logEvents.databaseReachable);
      away = false;
      for (const { name, lastSuccess } of view.lanes) metrics.laneLastSuccess.set({ lane: name }, lastSuccess);
      for (const lane of lanes) {
        const lease = view.lanes.find(({ name, held }) => held && name === lane.name);
        if (lease === undefined) holds.end(lane.name);
        else holds.extend(lane.name, askedMs + lease.leftMs);
        const held = holds.signalOf(lane.name);
        if (!stopped && held !== undefined && !running.has(lane.name) && performance.now() >= (dueMs.get(lane.name) ?? 0)) start(lane, view, held);
      }
    } catch (error) {
      if (isAway(error) && away) return; // said once
      away = isAway(error);
      logger.error(away ? logEvents.databaseUnreachable : logEvents.laneFailed, { err: error instanceof Error ? error : new Error(String(error)) });
    }
  };
  const turn = (): void => {
    const began = performance.now();
    looking = look().then(() => {
      if (!stopped) timer = setTimeout(turn, Math.max(50, options.lookEveryMs - (performance.now() - began)));
    });
  };
  turn();
  return Object.freeze({
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await looking;
      await Promise.all(running.values());
      await yieldLanes(db, options.holder()).catch(() => undefined); // they run out by themselves
    },
  });
}
