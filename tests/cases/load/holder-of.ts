import type { FleetProcess } from "@mainstay/fleet";
import { until, type TestFleet } from "@mainstay/testing";

/** The living worker that holds a run now; waits until one does. */
export function holderOf(fleet: TestFleet, runId: string, withinMs?: number): Promise<FleetProcess> {
  const id = runId.slice(runId.indexOf("/") + 1);
  return until(`a living worker to hold ${id}`, async () => {
    const [row] = await fleet.sql<{ owner: string | null }>("select owner from runs where id = $1", [id]);
    return fleet.fleet.of("worker").find((one) => one.incarnation === row?.owner || saidIncarnation(one, row?.owner));
  }, withinMs);
}

/** A process that lapsed goes on under a new incarnation, which only its log tells. */
function saidIncarnation(one: FleetProcess, owner: string | null | undefined): boolean {
  return typeof owner === "string" && one.lines().some(({ event }) => event?.["msg"] === "incarnation registered" && event["incarnation"] === owner);
}
