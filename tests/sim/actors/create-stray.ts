import { handBackRuns, lapseIncarnations, requestStop, suspectRuns, takeOver, type ReleaseLimits } from "@mainstay/database";
import { count, text, type Shadow } from "../laws/shadow.js";
import { deliver, startProcess, type SimProcess } from "../world/process.js";
import type { World } from "../world/world.js";
import { WORKSPACE } from "./start-api-process.js";
import { poolOf } from "./stage-parts.js";

/**
 * A stray process: a replica whose knowledge is old, or that repeats what another has done. Every verb must be safe in its
 * hands: it takes over whom it believes dead, hands back under fences it once had, lapses at beats it once saw.
 */
export type Stray = { process: SimProcess; act: () => void };

export function createStray({ world, shadow, limits, heartbeatMs }: { world: World; shadow: Shadow; limits: ReleaseLimits; heartbeatMs: number }): Stray {
  const process = startProcess("stray");
  const db = poolOf(2_500);
  const { chance } = world;
  const seen: { incarnation: string; beatNo: string }[] = [];
  const holds: { id: string; fence: string; owner: string }[] = [];
  const ignore = (): undefined => undefined;
  return {
    process,
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
