import type { recoveryBounds } from "@mainstay/config";
import { count, isClaimable, text, type Shadow } from "./shadow.js";
import type { Row } from "../postgres/change.js";
import type { World } from "../world/world.js";

/** Statements take simulated time of their own, a few milliseconds each. */
const STEPS_MS = 1_000;
/** What the storm left behind: late answers, sessions that do not stand yet, statements that time out. */
const SETTLING_MS = 3_000;

type Parts = {
  shadow: Shadow; world: World; bounds: ReturnType<typeof recoveryBounds>; broke: (law: string) => void; slots: number;
  /** The live workers: what each serves, by incarnation. */
  live: () => ReadonlyMap<string, readonly string[]>;
};

/**
 * In calm weather I7, class by class, while a capable worker has a free slot: `accepted`, a run that was never claimed;
 * `dispatched`, one that was released and is due; `leased`, one whose holder's process is gone, until it is released.
 */
export function judgeRest({ shadow, world, bounds, broke, slots, live }: Parts): { look: () => void } {
  const waiting = new Map<string, { what: string; since: number }>();
  const calmAt = world.time.now() + SETTLING_MS;
  const boundOf = (name: string): number => (bounds.find((one) => one.class === name)?.bound ?? Infinity) + STEPS_MS;
  const classOf = (run: Row, workers: ReadonlyMap<string, readonly string[]>): string | undefined => {
    if (run["owner"] !== null) return ["completed", "failed", "cancelled"].includes(text(run, "status")) || workers.has(text(run, "owner")) ? undefined : "leased";
    const due = isClaimable(run) && run["stop_requested"] === null && run["cohort_limit"] === null && Date.parse(text(run, "due_at")) <= world.time.databaseNow();
    if (!due || !hasRoom(run, workers)) return undefined;
    return count(run, "claims") === 0 ? "accepted" : "dispatched";
  };
  /** A worker serves it, has a free slot and holds no isolated run. */
  const hasRoom = (run: Row, workers: ReadonlyMap<string, readonly string[]>): boolean => {
    const held = new Map<string, Row[]>();
    for (const one of shadow.runs.values()) if (one["owner"] !== null) held.set(text(one, "owner"), [...(held.get(text(one, "owner")) ?? []), one]);
    return [...workers].some(([id, serves]) => {
      const company = held.get(id) ?? [];
      return serves.includes(text(run, "requires")) && company.length < slots && company.every((one) => one["cohort_limit"] === null);
    });
  };
  return {
    look: () => {
      const now = world.time.now();
      const workers = live();
      for (const run of shadow.runs.values()) {
        const id = text(run, "id");
        const name = classOf(run, workers);
        const what = `${name ?? ""} ${count(run, "fence")}`;
        const seen = waiting.get(id);
        if (name === undefined) waiting.delete(id);
        else if (seen?.what !== what) waiting.set(id, { what, since: Math.max(now, calmAt) });
        else if (now - seen.since > boundOf(name)) broke(`I7: a run is resumed within the bound of its class (${id.slice(9, 18)}, ${name}: ${Math.round(now - seen.since)} of ${boundOf(name)} ms)`);
      }
    },
  };
}
