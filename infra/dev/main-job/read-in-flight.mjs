/**
 * Asks the public effect list of the killed worker's runs at once after its death: which effects were launched and not
 * settled. Answers `{ runId, providerKey, at }[]`; nothing settles them until a peer has resumed the run, and what a
 * peer launched meanwhile has a later `at` than its lease.
 */
export async function readInFlight(client, runIds) {
  const lists = await Promise.all(runIds.map((runId) => client.runs.effects(runId)));
  return lists.flatMap(({ runId, effects }) =>
    effects.filter(({ state }) => state === "claimed").map(({ providerKey, at }) => ({ runId, providerKey, at })),
  );
}
