import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, Unreachable } from "@mainstay/sdk";
import { pickRun } from "./mix.mjs";

/**
 * Submits `rate` runs a second for `forMs`, open loop. A submission that meets a dying api, or a 503, is tried again
 * under its one idempotency key, at the apis in turn, until one has answered.
 */
export async function submitLoad({ fleet, key, url, rate, forMs, random, accepted, tallies }) {
  const began = performance.now();
  const open = new Set();
  for (let number = 0; performance.now() - began < forMs; number++) {
    const due = began + (number * 1_000) / rate;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    const one = submit(pickRun(random, { number, url }), number).finally(() => { open.delete(one); });
    open.add(one);
  }
  await Promise.all(open);

  async function submit({ workflowId, ends, inputs }, number) {
    const idempotencyKey = randomUUID();
    for (let go = 0; ; go++) {
      const apis = fleet.of("api");
      const api = apis[(number + go) % Math.max(1, apis.length)];
      try {
        if (api === undefined) throw new Unreachable("no api lives");
        const { runId } = await createClient({ url: api.url, key, retryForMs: 0 }).runs.create(workflowId, inputs, { idempotencyKey });
        accepted.set(runId.slice(runId.indexOf("/") + 1), ends);
        return;
      } catch (error) {
        const again = error instanceof Unreachable || error.status === 503;
        if (!again) tallies.refused.push(`${workflowId}: ${error.message}`);
        if (!again) return;
        tallies.retried += 1;
        if (go > 600) { tallies.refused.push(`${workflowId}: no api answered`); return; }
        await sleep(50 + random() * 100);
      }
    }
  }
}
