import { metricCatalogue, type Metric } from "@mainstay/telemetry";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

let chaos: ChaosFleet;
beforeAll(async () => { chaos = await startChaosFleet({ name: "metrics", workers: 3 }); });
afterAll(async () => { await chaos.stop(); });

/** Every series of a process, by its name and labels as they are printed. */
async function scrape(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map(text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}

async function scrapeAll(): Promise<Map<string, number>[]> {
  return Promise.all((["api", "relay", "worker", "supervisor"] as const).flatMap((role) => chaos.fleet.of(role)).map(({ url }) => scrape(url)));
}

/** The greatest value that any process shows for a metric. */
function greatest(scrapes: readonly Map<string, number>[], { name, type }: Metric): number {
  const shown = type === "histogram" ? `${name}_count` : name;
  return Math.max(-1, ...scrapes.flatMap((scraped) => [...scraped].filter(([series]) => series === shown || series.startsWith(`${shown}{`)).map(([, value]) => value)));
}

/** What this load does not move, each with the reason. */
const still: Readonly<Record<string, string>> = {
  acceptRefused: "nothing is refused", acceptQueue: "empty between two flushes", outboxPending: "empty once published", outboxOldest: "empty once published",
  outboxPublishFailures: "the broker is there", brokerErrors: "the broker is there", messageLockLost: "tickets are held for milliseconds", dbPoolWaiting: "the pool is wide enough",
  dbPoolInUse: "idle when scraped", draining: "nobody drains", slotsInUse: "idle when scraped", dueRuns: "nothing waits", dueRunsOldest: "nothing waits",
  holdingsMislaid: "no reply is lost", laneItemFailures: "no item fails", messageDeadLetters: "see the broker's tests", messageDeadLettersOldest: "see the broker's tests",
  messageDeadLettersOpened: "see the broker's tests", sseConnections: "closed again", sweptRuns: "depends on who is faster", eventLoopLag: "may be under a tick",
  terminalRejects: "depends on who is faster", fenceRejected: "a worker that wakes drops what it held before it writes", dbOldestSnapshot: "nobody holds one when scraped", failuresUnclassified: "every failure is coded",
};

test("under load with a kill, a frozen worker, poison, retries and dead letters every metric of the catalogue moves", async () => {
  const runIds = await Promise.all([
    ...Array.from({ length: 10 }, (_, at) => chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: `m-${at}`, firstMs: 0, lastMs: at < 6 ? 4_000 : 0 })),
  ]);
  const cancelled = await chaos.submit("chaos-order", { url: chaos.receiver.url, businessKey: "m-c", firstMs: 60_000, lastMs: 0 });
  const holder = await until("the long nodes", () => {
    const last = chaos.begun().filter(({ nodeId }) => nodeId === "last");
    return last.length >= 6 ? last[0] : undefined;
  });
  const pids = new Set(chaos.begun().map(({ pid }) => pid));
  const frozen = chaos.fleet.of("worker").find(({ pid }) => pid !== holder.pid && pids.has(pid));
  frozen?.freeze();
  await chaos.fleet.of("worker").find(({ pid }) => pid === holder.pid)!.kill("SIGKILL");
  await until("the frozen one to lapse", async () => (await chaos.sql("select from incarnations where lapsed_trigger = 'heartbeat_expired'")).length > 0, 10_000);
  frozen?.thaw();
  const twice = await Promise.all([1, 2].map(() => fetch(`${chaos.apiUrl()}/runs`, {
    method: "POST", body: JSON.stringify({ workflowId: "conformance-noop" }),
    headers: { "content-type": "application/json", authorization: `Bearer ${chaos.key}`, "idempotency-key": "the-same-key-for-both-of-them" },
  })));
  expect(twice.map(({ status }) => status)).toEqual([201, 201]);
  await fetch(`${chaos.apiUrl()}/runs/${encodeURIComponent(cancelled)}/cancel`, { method: "POST", headers: { authorization: `Bearer ${chaos.key}` } });
  const failing = await Promise.all(["mainstay-recover", "conformance-failure", "mainstay-exhaust"].map((workflowId) => chaos.submit(workflowId, {})));
  await chaos.waitEnded([...runIds, ...failing, cancelled]);
  const seen = new Map<string, number>();
  const moved = (what: string, except: readonly string[]) => until(what, async () => {
    const scrapes = await scrapeAll();
    for (const [key, metric] of Object.entries<Metric>(metricCatalogue)) seen.set(key, Math.max(seen.get(key) ?? -1, greatest(scrapes, metric)));
    const flat = [...seen].filter(([key, value]) => !(key in still) && !except.includes(key) && value <= 0).map(([key]) => key);
    if (flat.length > 0) throw new Error(`still flat: ${flat.join(", ")}`);
    return true;
  }, 15_000);
  await moved("every metric but one to move", ["crashLimit"]);
  const poison = await chaos.submit("mainstay-crash", {});
  await until("the crash limit", async () => {
    if (chaos.fleet.of("worker").length < 2) await chaos.fleet.add("worker");
    const [row] = await chaos.sql<{ status: string }>("select status from runs where id = $1", [poison.split("/")[1]]);
    return row?.status === "failed";
  }, 60_000);
  await moved("the last metric to move", []);
  expect([...seen.keys()].sort()).toEqual(Object.keys(metricCatalogue).sort());
});
