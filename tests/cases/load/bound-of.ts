import { BoundsResponse } from "@mainstay/contract";
import type { TestFleet } from "@mainstay/testing";

/** The declared bound of a recovery class, in milliseconds, as the fleet serves it. */
export async function boundOf(fleet: TestFleet, name: string): Promise<number> {
  const answer = await fetch(`${fleet.apiUrl()}/ops/v1/bounds`, { headers: { authorization: `Bearer ${fleet.key}` } });
  const found = BoundsResponse.parse(await answer.json()).recovery.find((one) => one.class === name);
  if (found === undefined) throw new Error(`no recovery class ${name} is declared`);
  return found.bound;
}
