import type { TestFleet } from "@mainstay/testing";

/** One fenced hold of a run: who, from when, and when it was lost, if it was. Instants in milliseconds of the database clock. */
export type Lease = Readonly<{ incarnation: string; fence: string; from: number; lostAt: number | undefined; lost: Readonly<Record<string, unknown>> | undefined }>;

/** The leases of a run out of its log, oldest first. */
export async function readLeases(fleet: TestFleet, runId: string): Promise<readonly Lease[]> {
  const leases: { -readonly [K in keyof Lease]: Lease[K] }[] = [];
  for (const { type, fence, at, payload } of await fleet.log(runId)) {
    if (type === "lease.acquired") leases.push({ incarnation: String(payload["instanceId"]), fence, from: at.getTime(), lostAt: undefined, lost: undefined });
    const last = leases.at(-1);
    if (type === "lease.lost" && last !== undefined) Object.assign(last, { lostAt: at.getTime(), lost: payload });
  }
  return leases;
}
