import { readEnds } from "./read-ends.js";
import type { Watched } from "./watched.js";

/** Runs that were seen ended and have since another status, instant, result or log; a run that was purged has moved too. */
export async function findMovedEnds({ fleet, watch }: Watched): Promise<readonly string[]> {
  if (watch === undefined) return [];
  await watch.look();
  const now = await readEnds(fleet.sql);
  return [...watch.moved(), ...[...watch.ends()].flatMap(([id, seen]) => (now.get(id) === seen ? [] : [`${id} ended as ${seen}, now it is ${now.get(id) ?? "gone"}`]))];
}
