import type { Watched } from "./watched.js";

const bare = (runId: string): string => runId.slice(runId.indexOf("/") + 1);

/**
 * Runs whose fence fell or was taken twice, and attempts of a node that began twice: in the log, and by what the node's own
 * code wrote. A suspended attempt goes on under a later fence; it is the same attempt and not begun again in the log.
 */
export async function findBrokenFences({ fleet, begun }: Watched): Promise<readonly string[]> {
  const falling = await fleet.sql<{ id: string; type: string; seq: number }>(
    `select run_id as id, type, seq from (
       select run_id, type, seq, fence, lag(fence) over (partition by run_id order by seq) as before from run_events
     ) f where fence < before or (type = 'lease.acquired' and fence <= before)`,
  );
  const stored = await fleet.executions();
  const attempts = stored.map(({ runId, nodeId, attempt }) => `${runId} ${nodeId} attempt ${attempt}`);
  const known = new Set(attempts);
  const written = begun().map((one) => ({ ...one, name: `${bare(one.runId)} ${one.nodeId} attempt ${one.attempt}` }));
  return [
    ...falling.map(({ id, type, seq }) => `${id}: the fence does not rise at ${type} ${seq}`),
    ...stored.filter((one) => one.begun > 1).map(({ runId, nodeId, attempt }) => `${runId} ${nodeId} attempt ${attempt} began twice under one fence`),
    ...repeated(attempts).map((name) => `${name} began again under another fence`),
    ...written.filter(({ name }) => !known.has(name)).map(({ name }) => `${name} was executed and never recorded`),
    ...repeated(written.map(({ name, fence }) => `${name} under ${fence}`)).map((name) => `${name} was executed twice`),
  ];
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size);
}
