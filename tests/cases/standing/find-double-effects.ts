import type { Watched } from "./watched.js";

/** Effects that were accepted twice outside, keys that were sent with two bodies, and ends that hide an unsettled effect. */
export async function findDoubleEffects({ fleet, receivers }: Watched): Promise<readonly string[]> {
  const twice = receivers.flatMap((receiver) => [...receiver.accepted()].filter(([, times]) => times > 1).map(([identity, times]) => `${identity} was accepted ${times} times`));
  const bodies = new Map<string, string>();
  const changed: string[] = [];
  for (const { key, digest } of receivers.flatMap((receiver) => receiver.ledger()).filter(({ method, key }) => method !== "GET" && key !== "")) {
    if ((bodies.get(key) ?? digest) !== digest) changed.push(`${key} was sent with two bodies`);
    bodies.set(key, digest);
  }
  const hidden = await fleet.sql<{ id: string; status: string; class: string | null }>(
    `select r.id, r.status, d.class from runs r left join dead_letters d on d.run_id = r.id and d.scope = 'run'
     where r.open_effects <> 0 and (r.status = 'completed' or (r.status = 'failed' and d.class is distinct from 'UNKNOWN'))`,
  );
  return [...twice, ...changed, ...hidden.map((row) => `${row.id} is ${row.status} (${row.class ?? "no dead letter"}) with an unsettled effect`)];
}
