import type { CaseFleet } from "../lane/define-case.js";

/** The bound that the fleet declares for a recovery class, in milliseconds. */
export async function readBound(fleet: CaseFleet, recoveryClass: string): Promise<number> {
  const answer = await fetch(`${fleet.apiUrl()}/ops/v1/bounds`, { headers: { authorization: `Bearer ${fleet.key}` } });
  const { recovery } = (await answer.json()) as { recovery: { class: string; bound: number }[] };
  const found = recovery.find((one) => one.class === recoveryClass);
  if (found === undefined) throw new Error(`no bound of class ${recoveryClass} is served: ${JSON.stringify(recovery)}`);
  return found.bound;
}
