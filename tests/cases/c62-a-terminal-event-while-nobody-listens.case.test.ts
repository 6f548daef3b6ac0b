import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { openStream } from "./load/open-stream.js";
import { runCli } from "./load/run-cli.js";
import { wireFleet } from "./load/wire-fleet.js";

defineCase({ id: "C62", title: "who was away when the run ended gets what was missed and its end", fullMinutes: 11, scaledSeconds: 15 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, api: 2 });
  const [first = "", second = ""] = fleet.fleet.of("api").map(({ url }) => url);
  const client = createClient({ url: first, key: fleet.key });
  const at = { url: second, key: fleet.key };
  const endings = [["wire-wait", "completed", 0], ["wire-fails", "failed", 7], ["wire-wait", "cancelled", 8]] as const;
  const runs = await Promise.all(endings.map(async ([workflow, status, exit]) => {
    const { runId } = await client.runs.create(workflow, { delayMs: status === "cancelled" ? 3_600_000 : 1_500 });
    const subscribers = [openStream({ url: first, key: fleet.key, runId }), openStream({ ...at, runId })];
    await until("both to see the node wait", () => subscribers.every((one) => one.frames().some(({ event }) => event === "node.started")));
    const known = subscribers[0]?.frames().at(-1)?.id ?? -1;
    for (const one of subscribers) one.drop();
    expect(await Promise.all(subscribers.map(({ closed }) => closed))).toEqual(["cut", "cut"]);
    if (status === "cancelled") await client.runs.cancel(runId);
    return { runId, status, exit, known };
  }));
  const ended = await fleet.waitEnded(runs.map(({ runId }) => runId));
  expect([...ended.values()]).toEqual(endings.map(([, status]) => status));

  for (const awayMs of [1_000, on.pick(600_000, 3_000)]) {
    on.tell(`back after ${String(awayMs / 1_000)} s`);
    await sleep(awayMs);
    for (const { runId, status, exit, known } of runs) {
      const stored = (await fleet.log(runId)).map(({ seq, type }) => [seq, type]);
      for (const after of [undefined, known, stored.length - 1]) {
        const stream = openStream({ ...at, runId, ...(after === undefined ? {} : { after }) });
        const began = performance.now();
        expect(await stream.closed).toBe("ended");
        expect(performance.now() - began).toBeLessThan(5_000);
        expect(stream.frames().map(({ id, event }) => [id, event])).toEqual(stored.slice((after ?? -1) + 1));
      }
      const seen: unknown[] = [];
      for await (const { sequence, type } of client.runs.events(runId, { from: known + 1 })) seen.push([sequence, type]);
      expect(seen).toEqual(stored.slice(known + 1));
      if (awayMs > 1_000 && on.scale === "scaled") continue; // each is two processes
      const watched = await runCli(["run", "watch", runId, "--from", String(known + 1), "-o", "ndjson"], at);
      expect([status, watched.status]).toEqual([status, exit]);
      expect(watched.out.trim().split("\n").map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual(stored.slice(known + 1).map(([seq]) => seq));
      expect((await runCli(["run", "watch", runId, "--mode", "updates"], at)).status).toBe(exit);
    }
  }
});
