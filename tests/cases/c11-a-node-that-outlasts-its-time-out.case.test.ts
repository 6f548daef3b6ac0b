import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createClient } from "@mainstay/sdk";
import { startReceiver, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { probeFleet } from "./load/probe-fleet.js";
import { readCharges } from "./load/read-charges.js";

/** Three times the longest time the product waits for anything unless told otherwise: a stalled reader, 30 s. */
const longMs = 90_000;

defineCase({ id: "C11", title: "a node that outlasts its time-out is told so, fenced and tried again; one without a time-out is executed once", fullMinutes: 3, scaledSeconds: 15 }, async (on) => {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ ...probeFleet, receivers: [receiver] });
  const folder = mkdtempSync(path.join(os.tmpdir(), "mainstay-c11-"));
  on.defer(() => { rmSync(folder, { recursive: true, force: true }); });
  const abortedFile = path.join(folder, "aborted");
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const timeoutMs = on.pick(10_000, 1_000);
  const holdMs = timeoutMs * 6;
  const long = await fleet.submit("probe-hold", { holdMs: on.pick(longMs, 8_000) });

  for (const workflow of [`probe-late-${String(timeoutMs / 1_000)}s`, `probe-late-${String(timeoutMs / 1_000)}s-heeds`]) {
    on.tell(`${workflow}: outlasts its time-out six times over`);
    const runId = await fleet.submit(workflow, { url: receiver.url, holdMs, abortedFile });
    expect(await effectiveTimeout(runId)).toBe(timeoutMs);
    expect(await fleet.waitEnded([runId], timeoutMs + 30_000)).toEqual(new Map([[runId, "completed"]]));
    const log = await fleet.log(runId);
    const ofNode = log.filter(({ type, nodeId }) => nodeId === "late" && type.startsWith("node."));
    expect(ofNode.map(({ type, payload }) => [type, payload["attempt"]])).toEqual([
      ["node.started", 0], ["node.retried", 1], ["node.started", 1], ["node.completed", undefined],
    ]);
    expect(ofNode[1]?.payload["lastError"]).toMatchObject({ code: "mainstay.timeout" });
    const tookMs = (ofNode[1]?.at.getTime() ?? Infinity) - (ofNode[0]?.at.getTime() ?? 0);
    on.measure(`${workflow} is timed out after`, tookMs, "ms");
    expect(tookMs).toBeGreaterThanOrEqual(timeoutMs - 50);
    expect(tookMs).toBeLessThan(timeoutMs + 2_000);
    expect(readFileSync(abortedFile, "utf8").split("\n").filter((line) => line === runId)).toHaveLength(1); // the signal was given
    await until("the old attempt's code to have come to its own end", () => Date.now() - (log[0]?.at.getTime() ?? 0) > holdMs + 1_000, holdMs + 10_000);
    expect(await fleet.log(runId)).toEqual(log); // it wrote nothing any more
    expect([...receiver.accepted().values()].filter((times) => times !== 1)).toEqual([]);
    expect(receiver.ledger().filter(({ body }) => body.includes(runId))).toHaveLength(1); // and sent nothing
  }

  expect(await effectiveTimeout(long)).toBe(0);
  expect(await fleet.waitEnded([long], longMs + 30_000)).toEqual(new Map([[long, "completed"]]));
  expect(fleet.begun().filter(({ runId }) => runId === long)).toHaveLength(1);
  expect(await readCharges(fleet)).toMatchObject({ crashes: 0, losses: 0, reclaims: 0 });

  for (const [body, field] of [
    [{ timeoutMs: 5 }, "timeoutMs"], [{ configurable: { version: 1, timeoutMs: 5 } }, "timeoutMs"], [{ configurable: { version: 1, run: { timeoutMs: 5 } } }, "timeoutMs"],
    [{ configurable: { version: 1, runTimeoutMs: 5 } }, "runTimeoutMs"], [{ configurable: { version: 1, run: { runTimeoutMs: 0 } } }, "runTimeoutMs"],
  ] as const) {
    const answer = await askRaw({ url: `${fleet.apiUrl()}/runs`, key: fleet.key, body: JSON.stringify({ workflowId: "probe-hold", inputs: { holdMs: 0 }, ...body }) });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(field)]);
  }
  const asked = await client.runs.create("probe-hold", { holdMs: 0 }, { configurable: { version: 1, run: { runTimeoutMs: 60_000 } } });
  fleet.accept(asked.runId);
  expect((await client.runs.get(asked.runId)).configurable).toEqual({ version: 1, run: { runTimeoutMs: 60_000 } });
  expect(await fleet.waitEnded([asked.runId])).toEqual(new Map([[asked.runId, "completed"]]));

  /** The time-out of the run's own node, out of the definition the run was accepted with. */
  async function effectiveTimeout(runId: string): Promise<number | undefined> {
    const [definition] = await fleet.sql<{ document: { nodes: { timeoutMs: number }[] } }>(
      "select w.document from runs r join workflow_specs w on w.spec_hash = r.spec_hash where r.id = $1", [runId.slice(runId.indexOf("/") + 1)]);
    return definition?.document.nodes[0]?.timeoutMs;
  }
});
