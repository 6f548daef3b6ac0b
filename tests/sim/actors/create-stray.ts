import { createSettle, enforceDeadlines, enforceStops, handBackRuns, lapseIncarnations, purgeRuns, requestStop, statement, suspectRuns, takeOutbox, takeOver, type ReleaseLimits } from "@mainstay/database";
import { count, text, type Shadow } from "../laws/shadow.js";
import { deliver, startProcess, type SimProcess } from "../world/process.js";
import type { World } from "../world/world.js";
import { WORKSPACE } from "./start-api-process.js";
import { poolOf } from "./stage-parts.js";

/**
 * A stray process: a replica whose knowledge is old, or that repeats what another has done. Every verb must be safe in its
 * hands: it takes over whom it believes dead, hands back under fences it once had, lapses at beats it once saw.
 */
export type Stray = {
  process: SimProcess;
  act: () => void;
  /** Lapses at the beats it saw; after a step of the clock they may look old. */
  lapse: () => void;
  /** Acts on the runs that a statement under way names, as one who does not know of it. */
  meet: (runIds: readonly string[]) => void;
  /** Evidence about an effect of theirs comes from elsewhere: what is true of its last launch, or old news of the one before. */
  testify: (runIds: readonly string[]) => void;
  /** A run is handed back by what its holder sent before: under the fence it is held by, or an older one. */
  handBack: (runId: string) => void;
  /** A lane looks for deadlines that have passed. */
  enforce: () => void;
  /** A relay takes rows over that it believes to be forgotten. */
  takeRows: () => void;
  /** Retention comes by, with little patience; or somebody pins a run. */
  tidy: () => void;
};

const pin = statement("sim.pin", "update runs set pinned_until = now() + interval '1 hour' where id = $1::uuid and finished_at is not null");
/** Runs are kept so long after their end, and so long after the time of their dead letter. Milliseconds. */
const KEEP_MS = 400;
const GRACE_MS = 1_000;

export function createStray({ world, shadow, limits, heartbeatMs, cancelGraceMs, actsOf }: {
  world: World; shadow: Shadow; limits: ReleaseLimits; heartbeatMs: number; cancelGraceMs: number; actsOf: (identity: string) => number;
}): Stray {
  const process = startProcess("stray");
  const db = poolOf(2_500);
  const { chance } = world;
  const seen: { incarnation: string; beatNo: string }[] = [];
  const holds: { id: string; fence: string; owner: string }[] = [];
  const ignore = (): undefined => undefined;
  const lapse = (): void => {
    deliver(process, () => {
      if (seen.length > 0) void lapseIncarnations(db, { seen: seen.slice(-8).map(({ incarnation, beatNo }) => ({ id: incarnation, beatNo })), heartbeatMs }).catch(ignore);
    });
  };
  const tidy = (): void => {
    deliver(process, () => {
      const ended = [...shadow.runs.values()].filter((run) => typeof run["finished_at"] === "string");
      if (ended.length === 0) return;
      if (chance.flip(0.4)) void db.query(pin, [chance.pick(ended)["id"]]).catch(ignore);
      else void purgeRuns(db, { after: "00000000-0000-0000-0000-000000000000", keepMs: KEEP_MS, graceMs: GRACE_MS }).catch(ignore);
    });
  };
  const testify = (runIds: readonly string[]): void => {
    deliver(process, () => {
      const effect = [...shadow.effects.values()].find((one) => runIds.includes(text(one, "run_id")));
      if (effect === undefined) return;
      const [effectId, runId, launchNo] = [text(effect, "id"), text(effect, "run_id"), count(effect, "launch_no")];
      const settle = createSettle(db, { giveUpMs: 2_000 });
      const happened = actsOf(text(effect, "identity").replace("\\x", "")) > 0;
      if (launchNo > 1 && chance.flip(0.5)) void settle({ effectId, runId, launchNo: launchNo - 1, outcome: "absent", via: "refusal" }).catch(ignore);
      else if (happened) void settle({ effectId, runId, launchNo, outcome: "confirmed", via: "operator", answer: { receipt: "told" } }).catch(ignore);
    });
  };
  const handBack = (runId: string): void => {
    const run = shadow.runs.get(runId);
    const [owner, fence] = [text(run, "owner"), count(run, "fence")];
    if (owner === "") return;
    const told = chance.flip(0.6) ? fence : Math.max(0, fence - 1 - chance.below(2));
    deliver(process, () => { void handBackRuns(db, { owner, limits, runs: [{ id: runId, fence: String(told), kind: "hand_back" }] }).catch(ignore); });
  };
  return {
    process, lapse, tidy, testify, handBack,
    enforce: () => {
      deliver(process, () => { void enforceDeadlines(db, { limits }).catch(ignore); });
    },
    takeRows: () => {
      deliver(process, () => { void takeOutbox(db, { relay: chance.uuid(), limit: 10, staleMs: 0, horizonMs: 1_000 }).catch(ignore); });
    },
    meet: (runIds) => {
      deliver(process, () => {
        const run = runIds.map((id) => shadow.runs.get(id)).find((one) => one !== undefined);
        if (run === undefined || run["owner"] === null) return;
        const owner = text(run, "owner");
        switch (chance.below(6)) {
          case 0: handBack(text(run, "id")); break;
          case 1: void takeOver(db, { incarnations: [owner], limits }).catch(ignore); break;
          case 2: void suspectRuns(db, { incarnations: [owner], limits }).catch(ignore); break;
          case 3: void enforceDeadlines(db, { limits }).catch(ignore); break;
          case 4: void enforceStops(db, { graceMs: cancelGraceMs, limits }).catch(ignore); break;
          default: void purgeRuns(db, { after: "00000000-0000-0000-0000-000000000000", keepMs: KEEP_MS, graceMs: GRACE_MS }).catch(ignore);
        }
      });
    },
    act: () => {
      for (const row of shadow.incarnations.values()) seen.push({ incarnation: text(row, "id"), beatNo: String(count(row, "beat_no")) });
      for (const run of shadow.runs.values()) if (run["owner"] !== null) holds.push({ id: text(run, "id"), fence: String(count(run, "fence")), owner: text(run, "owner") });
      seen.splice(0, Math.max(0, seen.length - 20));
      holds.splice(0, Math.max(0, holds.length - 12));
      deliver(process, () => {
        if (seen.length === 0) return;
        const { incarnation, beatNo } = chance.pick(seen);
        switch (chance.below(5)) {
          case 0: void takeOver(db, { incarnations: [incarnation], limits }).catch(ignore); break;
          case 1: void lapseIncarnations(db, { seen: [{ id: incarnation, beatNo }], heartbeatMs }).catch(ignore); break;
          case 2: {
            if (holds.length === 0) return;
            const { id, fence, owner } = chance.pick(holds);
            // only what is not held under that fence any more: what is held its holder alone gives back
            if (String(count(shadow.runs.get(id), "fence")) === fence) return;
            void handBackRuns(db, { owner, limits, runs: [{ id, fence, kind: chance.flip(0.5) ? "hand_back" : "mislaid" }] }).catch(ignore);
            break;
          }
          case 3: {
            const run = holds.length === 0 ? undefined : chance.pick(holds);
            if (run !== undefined && chance.flip(0.3)) void requestStop(db, { runId: run.id, workspace: WORKSPACE, by: "stray" }).catch(ignore);
            break;
          }
          default: void suspectRuns(db, { incarnations: [incarnation], limits }).catch(ignore);
        }
      });
    },
  };
}
