import type { TestFleet } from "@mainstay/testing";

/** What all runs of a fleet were charged with, and how often a lease was lost by force. */
export type Charges = Readonly<{ claims: number; crashes: number; losses: number; handBacks: number; reclaims: number }>;

/** Reads them; hand-backs are no reclaims. */
export async function readCharges(fleet: TestFleet): Promise<Charges> {
  const [row] = await fleet.sql<Charges>(
    `select coalesce(sum(claims), 0)::int as claims, coalesce(sum(crashes), 0)::int as crashes, coalesce(sum(losses), 0)::int as losses,
       coalesce(sum(hand_backs), 0)::int as "handBacks",
       (select count(*)::int from run_events where type = 'lease.lost' and payload->>'x-trigger' <> 'handed_back') as reclaims from runs`);
  if (row === undefined) throw new Error("the database answered no row");
  return row;
}
