import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { ClientError, createClient, Unreachable, WaitedTooLong } from "@mainstay/sdk";

const runId = "acme/0190a1b2-0000-7000-8000-000000000000";
const key = "mst_abcdefgh_ssssssssssssssssssssss";

type Seen = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
type Answer = (request: Seen, response: ServerResponse) => void;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers the n-th request with the n-th answer (the last one again and again) and keeps a ledger. */
async function serve(...answers: Answer[]): Promise<{ url: string; ledger: Seen[] }> {
  const ledger: Seen[] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() };
      ledger.push(seen);
      answers[Math.min(ledger.length, answers.length) - 1]?.(seen, response);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, ledger };
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

function event(sequence: number, type: string, payload: object): string {
  const data = { eventId: "e".repeat(16), runId, type, payload, timestamp: new Date(0).toISOString(), sequence, schemaVersion: 3 };
  return `id: ${String(sequence)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function sse(frames: string, ending: "end" | "cut"): Answer {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`retry: 10\n\n${frames}`, () => {
      if (ending === "end") response.end();
      else setImmediate(() => response.destroy());
    });
  };
}

const created = { runId, status: "pending", eventsUrl: "/runs/acme~2F0190a1b2-0000-7000-8000-000000000000/events" };

describe("create", () => {
  it("keeps one idempotency key over a lost connection, a 503 and a 429", async () => {
    const { url, ledger } = await serve(
      (_request, response) => response.destroy(),
      json(503, { error: "service_unavailable", message: "full" }),
      json(429, { error: "rate_limited", message: "slow" }),
      json(201, created, { "openwop-idempotent-replay": "true" }),
    );
    const run = await createClient({ url, key }).runs.create("invoice", { order: "o-7" }, { tags: ["a"] });
    expect(run).toMatchObject({ runId, status: "pending", replayed: true });
    expect(ledger).toHaveLength(4);
    expect(new Set(ledger.map((one) => one.headers["idempotency-key"])).size).toBe(1);
    expect(run.idempotencyKey).toMatch(/^[A-Za-z0-9._~-]{22,128}$/);
    expect(new Set(ledger.map((one) => one.body))).toEqual(new Set(['{"workflowId":"invoice","inputs":{"order":"o-7"},"tags":["a"]}']));
    expect(ledger[0]?.headers).toMatchObject({ authorization: `Bearer ${key}`, "openwop-version": "2.0" });
  });

  it("waits as long as Retry-After says", async () => {
    const { url } = await serve(json(503, { error: "service_unavailable", message: "full" }, { "retry-after": "1" }), json(201, created));
    const before = performance.now();
    await createClient({ url, key }).runs.create("invoice");
    expect(performance.now() - before).toBeGreaterThanOrEqual(990);
  });

  it("tries again after an answer that was longer in coming than it retries", async () => {
    const { url, ledger } = await serve(
      (_request, response) => setTimeout(() => response.destroy(), 300),
      json(201, created),
    );
    await createClient({ url, key, retryForMs: 250 }).runs.create("invoice");
    expect(ledger).toHaveLength(2);
  });

  it("does not retry a refusal, and throws its code", async () => {
    const { url, ledger } = await serve(json(400, { error: "validation_error", message: "bad", details: { field: "inputs" } }, { "x-request-id": "r-1" }));
    const thrown = await createClient({ url, key }).runs.create("invoice").catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ClientError);
    expect(thrown).toMatchObject({ code: "validation_error", status: 400, details: { field: "inputs" }, requestId: "r-1" });
    expect(ledger).toHaveLength(1);
  });

  it("says that nobody answered, without the key in the text", async () => {
    const thrown = await createClient({ url: "http://127.0.0.1:9", key, retryForMs: 0 }).runs.get(runId).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Unreachable);
    expect(String(thrown)).not.toContain("ssss");
  });
});

describe("events", () => {
  it("resume a cut stream by Last-Event-ID, without a gap or a repeat", async () => {
    const first = event(0, "run.started", { workflowId: "w" }) + event(1, "node.started", { nodeId: "a", typeId: "core.noop" });
    const rest = event(1, "node.started", { nodeId: "a", typeId: "core.noop" }) + event(2, "run.completed", { outputs: {} });
    const { url, ledger } = await serve(sse(first, "cut"), sse(rest, "end"));
    const seen: number[] = [];
    for await (const one of createClient({ url, key }).runs.events(runId, { streamMode: "debug" })) seen.push(one.sequence);
    expect(seen).toEqual([0, 1, 2]);
    expect(ledger[0]?.url).toBe("/runs/acme~2F0190a1b2-0000-7000-8000-000000000000/events?streamMode=debug");
    expect(ledger[0]?.headers["last-event-id"]).toBeUndefined();
    expect(ledger[1]?.headers["last-event-id"]).toBe("1");
  });

  const started = event(0, "run.started", { workflowId: "w" });
  const completed = event(1, "run.completed", { outputs: {} });

  it("are resumed after a silence that only keep-alives broke, however long it was", async () => {
    const idle: Answer = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 10\n\n${started}`);
      const alive = setInterval(() => response.write(": still here\n\n"), 20);
      setTimeout(() => { clearInterval(alive); response.destroy(); }, 300);
    };
    const { url } = await serve(idle, sse(completed, "end"));
    const seen: number[] = [];
    for await (const one of createClient({ url, key }).runs.events(runId, { reconnectForMs: 100 })) seen.push(one.sequence);
    expect(seen).toEqual([0, 1]);
  });

  it("are resumed for a reader that took its time, and was cut off meanwhile", async () => {
    const { url, ledger } = await serve(sse(started, "cut"), sse(completed, "end"));
    const seen: number[] = [];
    for await (const one of createClient({ url, key }).runs.events(runId, { reconnectForMs: 100 })) {
      seen.push(one.sequence);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(seen).toEqual([0, 1]);
    expect(ledger[1]?.headers["last-event-id"]).toBe("0");
  });

  it("are taken for dead after a silence, also when memory was collected meanwhile", async () => {
    const { url, ledger } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 10\n\n${started}`); // and nothing more
    }, sse(completed, "end"));
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const collecting = setInterval(collect, 50);
    const seen: number[] = [];
    for await (const one of createClient({ url, key }).runs.events(runId, { silenceMs: 600 })) seen.push(one.sequence);
    clearInterval(collecting);
    expect(seen).toEqual([0, 1]);
    expect(ledger).toHaveLength(2);
  });

  it("are given up once nothing was heard for that long", async () => {
    const { url } = await serve(sse(started, "cut"), (_request, response) => response.destroy());
    const read = async () => { for await (const one of createClient({ url, key }).runs.events(runId, { reconnectForMs: 200 })) expect(one.sequence).toBe(0); };
    await expect(read()).rejects.toBeInstanceOf(Unreachable);
  });

  it("end on a run that had ended before the asked point", async () => {
    const answer: Answer = (request, response) => {
      if (request.url.includes("/events")) sse("", "end")(request, response);
      else json(200, { runId, status: "completed" })(request, response);
    };
    const { url } = await serve(answer);
    const seen: number[] = [];
    for await (const one of createClient({ url, key }).runs.events(runId, { from: 100 })) seen.push(one.sequence);
    expect(seen).toEqual([]);
  });

  it("throw a refusal at once", async () => {
    const { url } = await serve(json(404, { error: "not_found", message: "no such run" }));
    await expect(createClient({ url, key }).runs.events(runId).next()).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("result", () => {
  const page = (events: unknown[], lastSequence: number) => json(200, { runId, events, lastSequence, status: "running", isTerminal: false });
  const end = JSON.parse(/data: (.*)\n/.exec(event(3, "run.completed", { outputs: { a: 1 } }))?.[1] ?? "") as unknown;

  it("polls on from the last sequence until the terminal event", async () => {
    const { url, ledger } = await serve(page([], -1), page([{ type: "run.started", sequence: 0 }], 0), page([end], 3));
    expect(await createClient({ url, key }).runs.result(runId)).toEqual({ runId, status: "completed", outputs: { a: 1 } });
    expect(ledger.map((one) => new URL(one.url, url).searchParams.get("afterSequence"))).toEqual([null, null, "0"]);
  });

  it("gives up waiting, not the run", async () => {
    const { url } = await serve((request, response) => setTimeout(() => { page([], -1)(request, response); }, 60));
    await expect(createClient({ url, key }).runs.result(runId, { timeoutMs: 50 })).rejects.toBeInstanceOf(WaitedTooLong);
  });
});
