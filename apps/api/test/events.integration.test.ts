import { connect } from "node:net";
import { parseRunEvent, PollEventsResponse, projectId, type RunEvent } from "@mainstay/contract";
import { createClient } from "@mainstay/sdk";
import { until } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectRefusal } from "./http.js";
import { startApi, type TestApi } from "./start-api.js";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.makeKey("acme");
});
afterAll(() => api.stop());

async function create(): Promise<string> {
  return String((await ask(`${api.url}/runs`, { key, body: { workflowId: "conformance-noop" } })).body["runId"]);
}

async function createEnded(): Promise<string> {
  const runId = await create();
  await api.complete(await api.claim(runId), { a: 1 });
  return runId;
}

const pathOf = (runId: string) => `${api.url}/runs/${projectId(runId)}/events`;
const poll = (runId: string, query = "") => ask(`${pathOf(runId)}/poll${query}`, { key });
const stream = (runId: string, query = "", headers: Record<string, string> = {}) => ask(`${pathOf(runId)}${query}`, { key, headers: { accept: "text/event-stream", ...headers } });

/** A stretch in which nothing may happen: what is measured is the silence itself. */
const silence = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads a whole stream that the server closes. */
async function frames(runId: string, query = "", headers: Record<string, string> = {}) {
  const response = await fetch(`${pathOf(runId)}${query}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const text = await response.text();
  const found = text.split("\n\n").filter((one) => one.startsWith("id:")).map((one) => ({
    id: Number(/^id: (\d+)$/m.exec(one)?.[1]), event: /^event: (.*)$/m.exec(one)?.[1], data: JSON.parse(/^data: (.*)$/m.exec(one)?.[1] ?? "") as RunEvent,
  }));
  return { response, frames: found };
}

describe("GET /runs/{runId}/events/poll", () => {
  it("gives the whole log at once, every event of the contract, sequences dense from 0", async () => {
    const runId = await createEnded();
    const { body } = await poll(runId);
    expect(Object.keys(body)).toEqual(["runId", "events", "lastSequence", "status", "isTerminal"]);
    const page = PollEventsResponse.parse(body);
    expect(page).toMatchObject({ runId, status: "completed", isTerminal: true, lastSequence: page.events.length - 1 });
    expect(page.events.map((event) => event.sequence)).toEqual(page.events.map((_event, index) => index));
    for (const event of page.events) {
      expect(parseRunEvent(event)).toHaveProperty("event");
      expect(event).toMatchObject({ runId, schemaVersion: 3, engineVersion: 1 });
    }
    expect(page.events.map((event) => event.type)).toEqual(["lease.acquired", "run.started", "node.started", "node.completed", "run.completed"]);
  });

  it("reads on after a sequence, exclusively, and answers nothing past the end", async () => {
    const runId = await createEnded();
    const all = PollEventsResponse.parse((await poll(runId)).body).events;
    expect((await poll(runId, "?afterSequence=2")).body["events"]).toEqual(all.slice(3));
    expect((await poll(runId, "?afterSequence=999")).body).toMatchObject({ events: [], lastSequence: all.length - 1, isTerminal: true });
  });

  it("answers −1 for an empty log once its time is up, and at once when news comes", async () => {
    const runId = await create();
    const before = performance.now();
    expect((await poll(runId, "?timeout=1")).body).toMatchObject({ events: [], lastSequence: -1, status: "pending", isTerminal: false });
    expect(performance.now() - before).toBeGreaterThanOrEqual(950);
    const waiting = poll(runId, "?timeout=20");
    const claimed = await api.claim(runId);
    api.logWatch.hint();
    expect((await waiting).body["events"]).not.toEqual([]);
    await api.complete(claimed);
  });

  it("answers a log that weighs much in pages, and says the end only with the last one", async () => {
    const runId = await create();
    await api.complete(await api.claim(runId), { a: "x".repeat(1_500_000) });
    const types: string[][] = [];
    for (let after = -1, ended = false; !ended;) {
      const page = PollEventsResponse.parse((await poll(runId, after < 0 ? "" : `?afterSequence=${String(after)}`)).body);
      types.push(page.events.map(({ type }) => type));
      after = page.lastSequence;
      ended = page.isTerminal;
    }
    expect(types).toEqual([["lease.acquired", "run.started", "node.started", "node.completed"], ["run.completed"]]);
    expect((await frames(runId, "?streamMode=debug")).frames.map(({ event }) => event)).toEqual(types.flat());
  });

  it("refuses a cursor or a time-out outside its range", async () => {
    const runId = await create();
    for (const query of ["?afterSequence=-1", "?afterSequence=99999999999", "?afterSequence=x", "?timeout=0", "?timeout=61"]) {
      expectRefusal(await poll(runId, query), 400, "validation_error");
    }
  });
});

describe("GET /runs/{runId}/events", () => {
  it("shows debug everything and updates a subsequence, and closes after the terminal event", async () => {
    const runId = await createEnded();
    const all = PollEventsResponse.parse((await poll(runId)).body).events;
    const debug = await frames(runId, "?streamMode=debug");
    expect(debug.response.headers.get("content-type")).toContain("text/event-stream");
    expect(debug.response.headers.get("openwop-version")).toBe("2.0");
    expect(debug.frames.map((frame) => frame.data)).toEqual(all);
    expect(debug.frames.map(({ id, event }) => [id, event])).toEqual(all.map(({ sequence, type }) => [sequence, type]));
    const updates = await frames(runId);
    expect(updates.frames.map((frame) => frame.event)).toEqual(["run.started", "node.completed", "run.completed"]);
    expect((await frames(runId, "?streamMode=messages")).frames).toEqual([]);
  });

  it("resumes after Last-Event-ID; beyond the log of an ended run it closes without a frame", async () => {
    const runId = await createEnded();
    expect((await frames(runId, "?streamMode=debug", { "last-event-id": "2" })).frames.map(({ id }) => id)).toEqual([3, 4]);
    const beyond = await frames(runId, "?streamMode=debug", { "last-event-id": "1004" });
    expect([beyond.response.status, beyond.frames]).toEqual([200, []]);
    expectRefusal(await stream(runId, "", { "last-event-id": "abc" }), 400, "validation_error");
  });

  it("judges mode and Last-Event-ID only after the right to the run", async () => {
    const foreign = "beta~2F0190a1b2-0000-7000-8000-000000000000";
    const unknown = "acme~2F0190a1b2-0000-7000-8000-000000000000";
    for (const headers of [{}, { "last-event-id": "abc" }, { "last-event-id": "5" }]) {
      expectRefusal(await ask(`${api.url}/runs/${foreign}/events`, { key, headers }), 403, "id_tenant_mismatch");
      expectRefusal(await ask(`${api.url}/runs/${unknown}/events`, { key, headers }), 404, "not_found");
    }
    const runId = await create();
    for (const mode of ["bogus", "values,debug", "updates,"]) {
      const details = expectRefusal(await stream(runId, `?streamMode=${mode}`), 400, "unsupported_stream_mode");
      expect(details["supported"]).toEqual(["values", "updates", "messages", "debug"]);
    }
  });

  it("cuts a reader that takes nothing off, and lets it resume", async () => {
    const brief = await startApi({ MAINSTAY_STREAM_STALL_MS: "300" });
    try {
      const made = await brief.makeKey("acme");
      const runId = String((await ask(`${brief.url}/runs`, { key: made, body: { workflowId: "conformance-noop" } })).body["runId"]);
      await brief.complete(await brief.claim(runId), { a: "x".repeat(4_000_000) });
      const { hostname, port } = new URL(brief.url);
      const open = () => new Promise<number>((resolve) => { brief.app.server.getConnections((_error, count) => { resolve(count); }); });
      const before = await open();
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write(`GET /runs/${projectId(runId)}/events?streamMode=debug HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${made}\r\n\r\n`);
      await until("the stream to be open", async () => (await open()) > before);
      await until("the reader to be cut off", async () => (await open()) === before, 5_000);
      socket.destroy();
      const seen: string[] = [];
      for await (const event of createClient({ url: brief.url, key: made }).runs.events(runId, { from: 3 })) seen.push(event.type);
      expect(seen).toEqual(["node.completed", "run.completed"]);
    } finally {
      await brief.stop();
    }
  });

  it("collects frames of one period into a batch", async () => {
    const runId = await createEnded();
    const batched = await frames(runId, "?streamMode=debug&bufferMs=50");
    expect(batched.frames).toHaveLength(1);
    expect(batched.frames[0]).toMatchObject({ id: 4, event: "batch" });
    expect(batched.frames[0]?.data).toHaveLength(5);
  });

  it("follows a live run through the client, and reads nothing while nothing happens", async () => {
    const runId = await create();
    const seen: string[] = [];
    const following = (async () => {
      for await (const event of createClient({ url: api.url, key }).runs.events(runId, { streamMode: "debug" })) seen.push(event.type);
    })();
    const claimed = await api.claim(runId);
    api.logWatch.hint();
    await api.complete(claimed);
    await following;
    expect(seen).toEqual(["lease.acquired", "run.started", "node.started", "node.completed", "run.completed"]);
    const before = new Map(api.statements);
    await silence(1_200);
    expect(api.statements).toEqual(before);
  });

  it("costs one statement a round for all streams of a workspace", async () => {
    const runIds = await Promise.all(Array.from({ length: 10 }, create));
    const gone = new AbortController();
    const opened = api.statements.get("reads.events") ?? 0;
    const open = await Promise.all(runIds.map((runId) =>
      fetch(pathOf(runId), { headers: { authorization: `Bearer ${key}` }, signal: gone.signal })));
    expect(open.map((response) => response.status)).toEqual(Array.from({ length: 10 }, () => 200));
    await until("all streams to wait", () => (api.statements.get("reads.events") ?? 0) >= opened + 10);
    const before = api.statements.get("reads.event_counts") ?? 0;
    await silence(1_600);
    expect((api.statements.get("reads.event_counts") ?? 0) - before).toBeLessThanOrEqual(4);
    gone.abort();
  });
});

describe("a stopping api", () => {
  it("closes its streams with a jittered retry and answers its long polls", async () => {
    const stopping = await startApi();
    const own = await stopping.makeKey("acme");
    const { body } = await ask(`${stopping.url}/runs`, { key: own, body: { workflowId: "conformance-noop" } });
    const url = `${stopping.url}/runs/${projectId(String(body["runId"]))}/events`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${own}` } });
    const polled = ask(`${url}/poll?timeout=30`, { key: own });
    const text = response.text();
    await until("both to wait for news", () => (stopping.statements.get("reads.events") ?? 0) >= 2);
    await stopping.stop();
    expect(await text).toMatch(/retry: \d+\n\n$/);
    expect((await polled).body).toMatchObject({ events: [], isTerminal: false });
  });
});
