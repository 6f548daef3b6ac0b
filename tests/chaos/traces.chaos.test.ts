import { startCollector, until, type CollectedSpan, type Collector } from "@mainstay/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChaosFleet, type ChaosFleet } from "./load/start-chaos-fleet.js";

const caller = { trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331" };
let collector: Collector;
let chaos: ChaosFleet;
beforeAll(async () => {
  collector = await startCollector();
  chaos = await startChaosFleet({
    name: "traces", workers: 2, supervisors: 1,
    env: { MAINSTAY_TRACING: "otlp", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "50" },
  });
});
afterAll(async () => {
  await chaos.stop();
  await collector.stop();
});

const find = (what: string, where: (span: CollectedSpan) => boolean) => until(what, () => collector.spans().find(where), 15_000);
const isOf = (runId: string) => (span: CollectedSpan) => span.attributes["openwop.run_id"] === runId;
const linkTo = (span: CollectedSpan, to: string) => span.links.find(({ attributes }) => attributes["mainstay.link"] === to);

async function submit(inputs: Record<string, unknown>): Promise<string> {
  const answer = await fetch(`${chaos.apiUrl()}/runs`, {
    method: "POST", body: JSON.stringify({ workflowId: "chaos-order", inputs }),
    headers: { "content-type": "application/json", authorization: `Bearer ${chaos.key}`, traceparent: `00-${caller.trace}-${caller.span}-01` },
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { runId: string }).runId;
}

test("a resumed attempt links to the attempt that was lost, whose process exported no span of it", async () => {
  const runId = await submit({ url: chaos.receiver.url, businessKey: "traced", firstMs: 10, lastMs: 60_000 });
  // the lost attempt's own span ends with its process; its child tells which one that was
  const child = await find("the first attempt's node", (span) => isOf(runId)(span) && span.name === "openwop.node.http.request");
  const holder = await until("the last node", () => chaos.begun().find((one) => one.runId === runId && one.nodeId === "last"));
  await chaos.fleet.of("worker").find(({ pid }) => pid === holder.pid)!.kill("SIGKILL");
  await until("a peer to hold it", () => chaos.begun().find((one) => one.runId === runId && one.nodeId === "last" && one.pid !== holder.pid));
  await fetch(`${chaos.apiUrl()}/runs/${encodeURIComponent(runId)}/cancel`, { method: "POST", headers: { authorization: `Bearer ${chaos.key}` } });
  await chaos.waitEnded([runId]);
  const attempt = await find("the resumed attempt", (span) => isOf(runId)(span) && span.name === "process default" && span.attributes["mainstay.trigger"] !== undefined);
  expect(attempt.attributes).toMatchObject({ "mainstay.trigger": "session_lost", "messaging.operation.name": "process" });
  expect(Number(attempt.attributes["mainstay.fence"])).toBeGreaterThan(Number(holder.fence));
  expect(linkTo(attempt, "lost_attempt")).toMatchObject({ traceId: child.traceId, spanId: child.parentSpanId });
  expect(attempt.traceId).not.toBe(child.traceId);
});

test("accept, ticket, attempt, node and effect are one chain of parents and links, and the caller's trace ends at the door", async () => {
  const runId = await submit({ url: chaos.receiver.url, businessKey: "chained", firstMs: 0, lastMs: 0 });
  await chaos.waitEnded([runId]);
  const send = await find("the producer", (span) => isOf(runId)(span) && span.name === "send mainstay.dispatch");
  const serve = await find("the request", (span) => span.spanId === send.parentSpanId);
  expect(serve).toMatchObject({ name: "POST /runs", kind: 2, traceId: caller.trace, parentSpanId: caller.span, service: "mainstay-api" });
  expect(send).toMatchObject({ kind: 4, traceId: caller.trace });
  const [stored] = await chaos.sql<{ traceparent: string }>("select traceparent from runs where id = $1", [runId.split("/")[1]]);
  expect(stored?.traceparent).toBe(`00-${send.traceId}-${send.spanId}-01`);
  const ticket = await find("its ticket", (span) => span.service === "mainstay-relay" && span.links.some(({ spanId }) => spanId === send.spanId));
  expect(ticket).toMatchObject({ name: "send default", kind: 3, parentSpanId: "" });
  const attempt = await find("the attempt", (span) => isOf(runId)(span) && span.name === "process default");
  expect(attempt).toMatchObject({ kind: 5, parentSpanId: "" });
  expect(linkTo(attempt, "run")).toMatchObject({ traceId: send.traceId, spanId: send.spanId });
  const node = await find("the node", (span) => isOf(runId)(span) && span.name === "openwop.node.http.request");
  expect(node).toMatchObject({ traceId: attempt.traceId, parentSpanId: attempt.spanId, attributes: { "openwop.node_attempt": "0", "mainstay.outcome": "completed" } });
  const effect = await find("the effect", (span) => span.parentSpanId === node.spanId);
  expect(effect).toMatchObject({ kind: 3, traceId: attempt.traceId, attributes: { "mainstay.effect_key": "request", "mainstay.outcome": "answered" } });
  expect(chaos.receiver.ledger().filter(({ traceparent }) => traceparent !== "")).toEqual([]);
});

test("the trace context leaves only to a destination whose effect says so", async () => {
  const runId = await submit({ url: chaos.receiver.url, businessKey: "named", firstMs: 0, lastMs: 0, propagateTrace: true });
  await chaos.waitEnded([runId]);
  const effect = await find("the effect", (span) => span.attributes["mainstay.effect_key"] === "request" && chaos.receiver.ledger().some(({ traceparent }) => traceparent.includes(span.spanId)));
  expect(chaos.receiver.ledger().filter(({ traceparent }) => traceparent !== "").map(({ traceparent }) => traceparent)).toEqual([`00-${effect.traceId}-${effect.spanId}-01`]);
});

test("a line that a node logs bears the ids of its span", async () => {
  const runId = await submit({ url: chaos.receiver.url, businessKey: "said", firstMs: 0, lastMs: 0, say: "hello" });
  await chaos.waitEnded([runId]);
  const node = await find("the node", (span) => isOf(runId)(span) && span.attributes["openwop.node_id"] === "last");
  const lines = chaos.fleet.of("worker").flatMap((worker) => worker.lines().map(({ text }) => text));
  expect(lines.find((line) => line.includes("node said") && line.includes(node.spanId))).toContain(node.traceId);
});
