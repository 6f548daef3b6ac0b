import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { projectId } from "@mainstay/contract";
import { createClient } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { memoryOf } from "./load/memory-of.js";
import { openStream } from "./load/open-stream.js";
import { wireFleet } from "./load/wire-fleet.js";

/** The longest silence of a stream: the server's heartbeat. */
const heartbeatMs = 15_000;

defineCase({ id: "C63", title: "odd resume points have an answer each, readers that never read are cut, dropped streams are gone", fullMinutes: 4, scaledSeconds: 25 }, async (on) => {
  const stallMs = on.pick(30_000, 3_000);
  const fleet = await on.startFleet({ ...wireFleet, api: 2, env: { MAINSTAY_STREAM_STALL_MS: String(stallMs) } });
  const [api, other] = fleet.fleet.of("api");
  const pid = api?.pid ?? 0;
  const url = fleet.apiUrl();
  const at = { url, key: fleet.key };
  const client = createClient(at);
  const openStreams = async (): Promise<number> => Number(/^mainstay_sse_connections (\d+)$/m.exec((await askRaw({ ...at, url: `${url}/metrics` })).text)?.[1] ?? Number.NaN);

  on.tell("odd resume points");
  const live = (await client.runs.create("wire-wait", { delayMs: 3_600_000 })).runId;
  const over = (await client.runs.create("wire-echo")).runId;
  await client.runs.result(over);
  for (const after of ["garbage", "-1", "1.5", "1e3", "0x10"]) {
    const answer = await askRaw({ ...at, url: `${url}/runs/${projectId(live)}/events`, headers: { "last-event-id": after } });
    expect([after, answer.status, answer.json()["error"]]).toEqual([after, 400, "validation_error"]);
  }
  const beyondTheEnd = openStream({ ...at, runId: over, after: 1_000_000 });
  expect([await beyondTheEnd.status, await beyondTheEnd.closed, beyondTheEnd.frames()]).toEqual([200, "ended", []]);
  const beyondLive = openStream({ ...at, runId: live, after: 1_000_000 });
  expect(await beyondLive.status).toBe(200); // held open until the run ends, as the protocol says
  const foreign = await askRaw({ ...at, url: `${url}/runs/other~2F${live.slice(live.indexOf("/") + 1)}/events`, headers: { "last-event-id": "3" } });
  expect([foreign.status, foreign.json()["error"]]).toEqual([403, "id_tenant_mismatch"]);
  const purged = (await client.runs.create("wire-echo")).runId;
  await client.runs.result(purged);
  for (const [table, column] of [["run_events", "run_id"], ["run_nodes", "run_id"], ["runs", "id"]] as const) {
    await fleet.sql(`delete from ${table} where ${column} = $1`, [purged.slice(purged.indexOf("/") + 1)]);
  }
  const gone = await askRaw({ ...at, url: `${url}/runs/${projectId(purged)}/events`, headers: { "last-event-id": "3" } });
  expect([gone.status, gone.json()["error"]]).toEqual([404, "not_found"]);
  await client.runs.cancel(live);
  expect([await beyondLive.closed, beyondLive.frames()]).toEqual(["ended", []]);

  const heavy = (await client.runs.create("wire-heavy")).runId;
  expect((await client.runs.result(heavy)).status).toBe("completed");
  const beside = createClient({ url: other?.url ?? "", key: fleet.key });
  const speed = async (): Promise<number> => {
    const began = performance.now();
    for (let index = 0; index < 20; index += 1) expect((await beside.runs.result((await beside.runs.create("wire-echo", { index })).runId)).status).toBe("completed");
    return (performance.now() - began) / 20;
  };
  const quietMs = await speed();
  const readers = on.pick(200, 40);
  on.tell(`${String(readers)} clients that never read a log of 12 MB`);
  const before = memoryOf(pid);
  const sockets = await Promise.all(Array.from({ length: readers }, () => neverRead(at, heavy)));
  await until("most streams to be open, before the first are cut", async () => (await openStreams()) > readers / 2, 60_000);
  let most = before;
  const watch = setInterval(() => { most = Math.max(most, memoryOf(pid)); }, 20);
  on.defer(() => { clearInterval(watch); });
  const busyMs = await speed();
  await until("the stalled readers to be cut", async () => (await openStreams()) === 0, stallMs * 2 + 30_000);
  clearInterval(watch);
  for (const socket of sockets) socket.resume(); // only who reads hears of it
  await until("their connections to be over", () => sockets.every(({ destroyed }) => destroyed), 10_000);
  on.measure("api memory before", Math.round(before / 1_048_576), "MB");
  on.measure("api memory at most", Math.round(most / 1_048_576), "MB");
  on.measure("a run without and with them", `${quietMs.toFixed(0)} and ${busyMs.toFixed(0)}`, "ms");
  // a megabyte a reader, and garbage that nobody has collected yet; the log alone would be twelve megabytes for each
  expect(most - before).toBeLessThan((readers + 192) * 1_048_576);

  const drops = on.pick(1_000, 200);
  on.tell(`${String(drops)} abrupt disconnects`);
  const waiting = (await client.runs.create("wire-wait", { delayMs: 3_600_000 })).runId;
  for (let done = 0; done < drops; done += 100) {
    const streams = Array.from({ length: 100 }, () => openStream({ ...at, runId: waiting }));
    await Promise.all(streams.map(async (stream, index) => {
      if (index % 3 > 0) await stream.status; // every third is dropped before an answer came
      if (index % 3 > 1) await sleep(Math.random() * 100);
      stream.drop();
    }));
  }
  const dropped = performance.now();
  await until("every stream to be gone", async () => (await openStreams()) === 0, 2 * heartbeatMs);
  on.measure("open streams 0 after", Math.round(performance.now() - dropped), "ms");
  await client.runs.cancel(waiting);
  await fleet.waitEnded([live, over, heavy, waiting]);
});

/** Asks for the whole log and reads nothing of the answer. */
async function neverRead({ url, key }: { url: string; key: string }, runId: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`GET /runs/${projectId(runId)}/events?streamMode=debug HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}
