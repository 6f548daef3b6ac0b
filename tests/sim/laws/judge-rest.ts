import type { recoveryBounds } from "@mainstay/config";
import { isClaimable, text, type Shadow } from "./shadow.js";
import type { World } from "../world/world.js";

/** In calm weather: I7, every run that may be claimed is claimed within the widest bound while a capable worker lives. */
export function judgeRest({ shadow, world, bounds, broke, capable }: {
  shadow: Shadow; world: World; bounds: ReturnType<typeof recoveryBounds>; broke: (law: string) => void; capable: () => boolean;
}): { look: () => void } {
  const mostMs = Math.max(...bounds.map(({ bound }) => bound)) + 2_000;
  const waiting = new Map<string, { fence: string; since: number }>();
  return {
    look: () => {
      const now = world.time.now();
      if (!capable()) waiting.clear();
      for (const run of shadow.runs.values()) {
        const id = text(run, "id");
        const due = isClaimable(run) && run["stop_requested"] === null && run["cohort_limit"] === null && Date.parse(text(run, "due_at")) <= world.time.databaseNow();
        if (!due) { waiting.delete(id); continue; }
        const seen = waiting.get(id);
        if (seen === undefined || seen.fence !== String(run["fence"])) waiting.set(id, { fence: String(run["fence"]), since: now });
        else if (now - seen.since > mostMs) broke(`I7: a run is resumed within its bound (${id.slice(9, 18)} has waited ${now - seen.since} ms)`);
      }
    },
  };
}
