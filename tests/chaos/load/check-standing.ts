import { expect } from "vitest";
import { checkStanding as checkAll } from "../../cases/standing/check-standing.js";
import type { ChaosFleet } from "./start-chaos-fleet.js";

/**
 * The standing checks of the fault cases, and what is known of this load besides: every run has ended, every completed
 * order was charged once, and no process ended but those the case ended.
 */
export async function checkStanding(chaos: ChaosFleet, runIds: readonly string[], deaths: Readonly<Record<string, number>> = {}): Promise<void> {
  const ids = runIds.map((runId) => runId.slice(runId.indexOf("/") + 1));
  expect(await chaos.sql("select id, status from runs where id = any($1::uuid[]) and status not in ('completed', 'failed', 'cancelled')", [ids])).toEqual([]);
  await checkAll({ fleet: chaos, receivers: [chaos.receiver], accepted: () => runIds, begun: chaos.begun, canaries: [], except: {} });
  const accepted = chaos.receiver.accepted();
  const charged = await chaos.sql<{ key: string }>("select input->>'businessKey' as key from runs where workflow_id = 'chaos-order' and status = 'completed'");
  expect(charged.filter(({ key }) => accepted.get(key) !== 1)).toEqual([]);
  expect(chaos.fleet.deaths()).toEqual(deaths);
}
