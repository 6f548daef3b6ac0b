/**
 * Asks the public effect list of every run at once after the worker's death: which effects were launched and are not
 * settled. Answers `{ runId, providerKey, at }[]`. Nothing settles those of the dead worker until a peer has resumed
 * their run; what a peer launched meanwhile has a later `at` than its lease.
 */
export async function readInFlight(client, runIds) {
  const lists = await Promise.all(runIds.map((runId) => client.runs.effects(runId)));
  return lists.flatMap(({ runId, effects }) =>
    effects.filter(({ state }) => state === "claimed").map(({ providerKey, at }) => ({ runId, providerKey, at })),
  );
}
