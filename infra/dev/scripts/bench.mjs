import { setUp } from "../set-up/set-up.mjs";

/**
 * `npm run bench [-- --json | --check | --quick | --rounds N | --only W1,W2]`: Mainstay beside BullMQ, pg-boss and
 * graphile-worker on servers of its own, at most 20 minutes. `--check` answers 1 when a floor is missed; `--quick` is the
 * lane's own smoke test.
 */
export async function run(args) {
  const { readOptions } = await import("../../../tests/bench/read-options.mjs");
  const options = readOptions(args);
  await setUp();
  const { installPeers } = await import("../../../tests/bench/install-peers.mjs");
  await installPeers();
  const { runBench } = await import("../../../tests/bench/run.mjs");
  return runBench(options);
}
