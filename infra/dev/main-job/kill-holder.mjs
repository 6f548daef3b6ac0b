import { until } from "./until.mjs";

/** A log that has not reached us after this long is not waited for. */
const seeAllWithinMs = 5_000;

/**
 * Waits until one worker holds several runs, some of them with a request on the wire, SIGKILLs it and waits for its
 * end as its parent sees it. Answers `{ victim, exit, killedAt, killedAtWall, held, open }`: `held` are the runs it
 * held as far as their logs said, `open` those of them whose request the receiver had not answered.
 */
export async function killHolder({ fleet, watch, receiver, identityOf, signal }) {
  const began = performance.now();
  const chosen = await until("a worker that holds several runs with requests on the wire", () => {
    if (watch.problem()) throw watch.problem();
    const seesAll = [...watch.logs.values()].every((log) => log.length > 0);
    if (!seesAll && performance.now() - began < seeAllWithinMs) return undefined;
    const unanswered = new Set(receiver.ledger.filter(({ answeredAt }) => answeredAt === undefined).map(({ identity }) => identity));
    const candidates = fleet.of("worker").map((worker) => {
      const held = [...watch.logs.keys()].filter((runId) => watch.holderOf(runId) === worker.incarnation);
      return { worker, held, open: held.filter((runId) => unanswered.has(identityOf(runId))) };
    });
    candidates.sort((a, b) => b.open.length - a.open.length);
    const [best] = candidates;
    return best && best.open.length >= 5 && best.held.length >= 8 ? best : undefined;
  }, { signal });
  const killedAtWall = Date.now();
  const killedAt = performance.now();
  const exit = await chosen.worker.kill("SIGKILL");
  return { victim: chosen.worker, exit, killedAt, killedAtWall, held: chosen.held, open: chosen.open };
}
