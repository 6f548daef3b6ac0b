import { classOfTrigger } from "@mainstay/domain";
import { say } from "../say.mjs";
import { judge } from "./judge.mjs";
import { killHolder } from "./kill-holder.mjs";
import { readInFlight } from "./read-in-flight.mjs";
import { readTakeovers } from "./read-takeovers.mjs";
import { submitOrders } from "./submit-orders.mjs";
import { tellProgress } from "./tell.mjs";
import { until } from "./until.mjs";
import { watchRuns } from "./watch-runs.mjs";

const runCount = 40;
const prepareWithinMs = 4_000;

/** Submits, kills the holder, watches the peer take over until every run has ended; answers `{ document, claims, takeovers }`. */
export async function showMainJob({ fleet, client, receiver, services, signal }) {
  const { recovery: bounds } = await client.ops.bounds();
  await until("both workers to be live", () => bothWorkersLive(client), { signal });

  const identities = await submitOrders(client, { count: runCount, receiverUrl: receiver.url, prepareWithinMs });
  const watch = watchRuns(client, [...identities.keys()]);
  try {
    say(`1  ${identities.size} runs accepted: prepare → charge (an HTTP request to the receiver) → confirm`);
    const kill = await killHolder({ fleet, watch, receiver, signal, identityOf: (runId) => identities.get(runId) });
    const inFlight = await readInFlight(client, [...watch.logs.keys()]);
    say(`2  ${kill.victim.name} held ${kill.held.length} runs, ${kill.open.length} with a request on the wire: killed, its parent saw ${kill.exit.signal ?? `status ${kill.exit.code}`}`);
    say("3  the peer takes over");
    const takeoversNow = () => readTakeovers({ logs: watch.logs, kill, bounds, classOfTrigger });
    await watchToTheEnd({ watch, kill, takeoversNow, accepted: identities.size, signal });
    const takeovers = takeoversNow();
    say("4  every run has ended");
    const judged = judge({ services, submitted: runCount, accepted: identities.size, watch, kill, takeovers, inFlight, ledger: receiver.ledger });
    return { ...judged, takeovers };
  } finally {
    await watch.stop();
  }
}

/** A worker registers its workflows before it is live. */
async function bothWorkersLive(client) {
  const { instances } = await client.ops.instances();
  return instances.filter(({ role, state }) => role === "worker" && state === "live").length >= 2;
}

async function watchToTheEnd({ watch, kill, takeoversNow, accepted, signal }) {
  let toldAt = performance.now();
  let told = "";
  const tellNow = () => {
    const takeovers = takeoversNow();
    const progress = { lost: Math.max(kill.held.length, takeovers.length), resumed: takeovers.filter(({ observedMs }) => observedMs !== undefined).length, completed: watch.ended("run.completed").length, accepted };
    const text = JSON.stringify(progress);
    if (text !== told) tellProgress({ sinceMs: performance.now() - kill.killedAt, ...progress });
    told = text;
    toldAt = performance.now();
  };
  await until("every accepted run to end", () => {
    if (watch.problem()) throw watch.problem();
    if (performance.now() - toldAt > 500) tellNow();
    return watch.ended().length === accepted;
  }, { signal, withinMs: 120_000 });
  tellNow();
}
