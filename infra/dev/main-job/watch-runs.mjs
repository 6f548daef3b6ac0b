import { setMaxListeners } from "node:events";

const terminal = new Set(["run.completed", "run.failed", "run.cancelled"]);

/**
 * Follows the public event log of each run and notes when each event reached us, on our own monotonic clock. Answers
 * `{ logs, holderOf(runId), ended(), problem(), stop() }`; an entry of a log is `{ event, arrivedAt }`.
 */
export function watchRuns(client, runIds) {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every stream hears it
  const logs = new Map(runIds.map((runId) => [runId, []]));
  let failure;
  const watching = runIds.map(async (runId) => {
    try {
      for await (const event of client.runs.events(runId, { streamMode: "debug", signal: stopping.signal })) {
        logs.get(runId).push({ event, arrivedAt: performance.now() });
      }
    } catch (error) {
      if (!stopping.signal.aborted) failure ??= error;
    }
  });
  return {
    logs,
    holderOf: (runId) => holderIn(logs.get(runId)),
    ended: (type) => [...logs.values()].filter((log) => log.some(({ event }) => (type ? event.type === type : terminal.has(event.type)))),
    problem: () => failure,
    async stop() {
      stopping.abort();
      await Promise.allSettled(watching);
    },
  };
}

/** The incarnation that holds the run as far as its log says, or undefined. */
function holderIn(log) {
  let holder;
  for (const { event } of log) {
    if (event.type === "lease.acquired") holder = event.payload.instanceId;
    if (event.type === "lease.lost" || terminal.has(event.type)) holder = undefined;
  }
  return holder;
}
