import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server as HttpServer } from "node:http";
import { createServer as createHttps } from "node:https";
import { createServer as createTcp, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createEgress, type EgressOutcome, type EgressRequest } from "../src/index.js";
import { certificate, certificateKey } from "./certificate.js";

const loopback = createEgress({ allow: ["127.0.0.0/8", "::1"] });
const open: Server[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(open.splice(0).map((server) => new Promise((resolve) => { server.close(resolve); })));
});

async function listen(server: Server | HttpServer): Promise<number> {
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  open.push(server);
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createHttp(listener))}`;
}

function ask(url: string, more: Partial<EgressRequest> = {}): Promise<EgressOutcome> {
  return loopback.request({ url, timeoutMs: 5_000, ...more });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test("a request arrives once as it was given, and its answer comes back whole", async () => {
  const arrivals: unknown[] = [];
  const url = await serve((request, response) => {
    void bodyOf(request).then((body) => {
      arrivals.push({ method: request.method, url: request.url, body, key: request.headers["idempotency-key"], length: request.headers["content-length"] });
      response.writeHead(201, { "content-type": "text/plain", "x-two": ["a", "b"] }).end("made");
    });
  });
  const outcome = await ask(`${url}/path?q=1`, { method: "POST", headers: { "Idempotency-Key": "k1" }, body: "hello" });
  expect(outcome).toMatchObject({ sent: true, status: 201, headers: { "content-type": "text/plain", "x-two": ["a", "b"] } });
  expect(outcome.sent && outcome.status !== undefined ? Buffer.from(outcome.body).toString() : "").toBe("made");
  expect(arrivals).toEqual([{ method: "POST", url: "/path?q=1", body: "hello", key: "k1", length: "5" }]);
});

test("a redirect is an answer, not a way", async () => {
  let arrivals = 0;
  const url = await serve((_, response) => {
    arrivals += 1;
    response.writeHead(307, { location: "/again" }).end();
  });
  expect(await ask(url, { method: "POST", body: "x" })).toMatchObject({ sent: true, status: 307 });
  expect(arrivals).toBe(1);
});

test("a refused connection sent nothing", async () => {
  const server = createTcp();
  const port = await listen(server);
  await new Promise((resolve) => { server.close(resolve); });
  open.splice(0);
  expect(await ask(`http://127.0.0.1:${port}`)).toMatchObject({ sent: false, reason: "connect", detail: "ECONNREFUSED" });
});

test("a host without an address sent nothing", async () => {
  expect(await ask("http://nowhere.invalid/")).toMatchObject({ sent: false, reason: "resolve" });
});

test("a resolver that hangs is given up at the time-out, and nothing was sent", async () => {
  const hanging = createEgress({ allow: [], resolve: () => new Promise(() => undefined) });
  expect(await hanging.request({ url: "https://example.com", timeoutMs: 100 })).toMatchObject({ sent: false, reason: "resolve" });
});

test("a server that speaks no TLS fails the handshake, and nothing was sent", async () => {
  const port = await listen(createTcp((socket) => { socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"); }));
  expect(await ask(`https://127.0.0.1:${port}`)).toMatchObject({ sent: false, reason: "tls" });
});

test("a handshake that hangs is given up at the time-out, and nothing was sent", async () => {
  const port = await listen(createTcp(() => undefined));
  const from = performance.now();
  expect(await ask(`https://127.0.0.1:${port}`, { timeoutMs: 200 })).toMatchObject({ sent: false, reason: "tls" });
  expect(performance.now() - from).toBeLessThan(1_000);
});

test("a certificate nobody trusts fails the handshake; a trusted one of the right name does not", async () => {
  const port = await listen(createHttps({ cert: certificate, key: certificateKey }, (_, response) => { response.end("secure"); }));
  const trusting = createEgress({ allow: ["127.0.0.1", "::1"], ca: certificate });
  expect(await ask(`https://localhost:${port}`)).toMatchObject({ sent: false, reason: "tls" });
  expect(await trusting.request({ url: `https://localhost:${port}`, timeoutMs: 5_000 })).toMatchObject({ sent: true, status: 200 });
  expect(await trusting.request({ url: `https://127.0.0.1:${port}`, timeoutMs: 5_000 })).toMatchObject({ sent: true, status: 200 });
  const misled = createEgress({ allow: ["127.0.0.1"], ca: certificate, resolve: () => Promise.resolve(["127.0.0.1"]) });
  expect(await misled.request({ url: `https://bank.example:${port}`, timeoutMs: 5_000 })).toMatchObject({ sent: false, reason: "tls" });
});

test("a server that resets after the request leaves it open", async () => {
  const port = await listen(createTcp((socket) => { socket.once("data", () => { socket.resetAndDestroy(); }); }));
  expect(await ask(`http://127.0.0.1:${port}`, { method: "POST", body: "x" })).toMatchObject({ sent: true, status: undefined, reason: "reset" });
});

test("a server that closes in the middle of its answer leaves it open", async () => {
  const port = await listen(createTcp((socket) => { socket.once("data", () => { socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"); }); }));
  expect(await ask(`http://127.0.0.1:${port}`)).toMatchObject({ sent: true, status: undefined, reason: "reset" });
});

test("an answer that is no HTTP leaves it open", async () => {
  const port = await listen(createTcp((socket) => { socket.once("data", () => { socket.end("what?\r\n\r\n"); }); }));
  expect(await ask(`http://127.0.0.1:${port}`)).toMatchObject({ sent: true, status: undefined, reason: "reset" });
});

test.each(["GET", "PUT", "POST"])("a %s is sent over one connection, once, although the connection broke", async (method) => {
  let connections = 0;
  const port = await listen(createTcp((socket) => {
    connections += 1;
    socket.once("data", () => { socket.destroy(); });
  }));
  await ask(`http://127.0.0.1:${port}`, method === "GET" ? { method } : { method, body: "x" });
  expect(connections).toBe(1);
});

test("a server that hangs is left at the time-out, and its socket is destroyed", async () => {
  let closed = false;
  const port = await listen(createTcp((socket) => { socket.on("close", () => { closed = true; }); socket.resume(); }));
  const from = performance.now();
  expect(await ask(`http://127.0.0.1:${port}`, { timeoutMs: 150 })).toMatchObject({ sent: true, status: undefined, reason: "timeout" });
  expect(performance.now() - from).toBeLessThan(1_000);
  await expect.poll(() => closed, { timeout: 2_000 }).toBe(true);
});

test("an answer that trickles is left at the time-out", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => { response.write("."); }, 20);
    response.on("close", () => { clearInterval(timer); });
  });
  expect(await ask(url, { timeoutMs: 200 })).toMatchObject({ sent: true, status: undefined, reason: "timeout" });
});

test("an answer above the cap leaves it open", async () => {
  const small = createEgress({ allow: ["127.0.0.1"], bodyMaxBytes: 1_000 });
  const url = await serve((_, response) => { response.end("x".repeat(1_001)); });
  expect(await small.request({ url, timeoutMs: 5_000 })).toMatchObject({ sent: true, status: undefined, reason: "too_large" });
});

test("aborting before the call sends nothing, aborting after the request leaves it open", async () => {
  let arrivals = 0;
  const control = new AbortController();
  const url = await serve(() => {
    arrivals += 1;
    control.abort();
  });
  expect(await ask(url, { signal: AbortSignal.abort() })).toMatchObject({ sent: false, reason: "aborted_before_send" });
  expect(arrivals).toBe(0);
  expect(await ask(url, { signal: control.signal })).toMatchObject({ sent: true, status: undefined, reason: "aborted" });
  expect(arrivals).toBe(1);
});

test("a beforeFirstByte that throws keeps every byte here and hands its reason back", async () => {
  let bytes = 0;
  let connections = 0;
  const port = await listen(createTcp((socket) => {
    connections += 1;
    socket.on("data", (data: Buffer) => { bytes += data.length; });
  }));
  const late = new Error("the send grace is over");
  const outcome = await ask(`http://127.0.0.1:${port}`, { method: "POST", body: "x", beforeFirstByte: () => { throw late; } });
  expect(outcome).toMatchObject({ sent: false, reason: "aborted_before_send", cause: late });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([connections, bytes]).toEqual([1, 0]);
});

test("beforeFirstByte runs once, after the connection stands and before the request arrives", async () => {
  const order: string[] = [];
  const server = createHttp((_, response) => {
    order.push("arrived");
    response.end();
  });
  server.on("connection", () => order.push("connected"));
  const port = await listen(server);
  await ask(`http://127.0.0.1:${port}`, { beforeFirstByte: () => { order.push("before"); } });
  expect(order.filter((one) => one !== "connected")).toEqual(["before", "arrived"]);
});

test("without an opened range loopback is denied in every spelling, and nobody is connected to", async () => {
  let connections = 0;
  const port = await listen(createTcp(() => { connections += 1; }));
  const closed = createEgress({ allow: [] });
  for (const host of ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"]) {
    for (const scheme of ["http", "https"]) {
      expect(await closed.request({ url: `${scheme}://${host}:${port}/`, timeoutMs: 2_000 }), host).toMatchObject({ sent: false, reason: "egress_denied" });
    }
  }
  expect(connections).toBe(0);
});

test("one private address among the public ones of a host denies it", async () => {
  const rebound = createEgress({ allow: [], resolve: () => Promise.resolve(["93.184.216.34", "169.254.169.254"]) });
  expect(await rebound.request({ url: "https://example.com", timeoutMs: 1_000 })).toMatchObject({ sent: false, reason: "egress_denied" });
});

test("a name is resolved once, and the checked address is the one connected to", async () => {
  let asked = 0;
  const url = new URL(await serve((request, response) => { response.end(request.headers.host); }));
  const pinned = createEgress({
    allow: ["127.0.0.1"],
    resolve: () => Promise.resolve(asked++ === 0 ? ["127.0.0.1"] : ["169.254.169.254"]),
  });
  const outcome = await pinned.request({ url: `http://service.example:${url.port}/`, timeoutMs: 2_000 });
  expect(outcome).toMatchObject({ sent: true, status: 200 });
  expect(outcome.sent && outcome.status === 200 ? Buffer.from(outcome.body).toString() : "").toBe(`service.example:${url.port}`);
  expect(asked).toBe(1);
});

test("an address that does not answer gives way to the next one", async () => {
  const url = new URL(await serve((_, response) => { response.end(); }));
  const two = createEgress({ allow: ["127.0.0.0/8"], resolve: () => Promise.resolve(["127.0.0.2", "127.0.0.1"]) });
  expect(await two.request({ url: `http://service.example:${url.port}/`, timeoutMs: 5_000 })).toMatchObject({ sent: true, status: 200 });
});

test.each([
  ["plain http to a public address", { url: "http://example.com/" }],
  ["another port of a public address", { url: "https://example.com:8443/" }],
  ["another scheme", { url: "ftp://example.com/" }],
  ["a file", { url: "file:///etc/passwd" }],
  ["no URL", { url: "example.com" }],
  ["a password in the URL", { url: "https://user:pass@example.com/" }],
  ["a host header", { url: "https://example.com/", headers: { Host: "other" } }],
  ["a framing header", { url: "https://example.com/", headers: { "Transfer-Encoding": "chunked" } }],
  ["a header that splits", { url: "https://example.com/", headers: { "x-a": "b\r\nx-c: d" } }],
  ["a tunnel", { url: "https://example.com/", method: "CONNECT" }],
] as const)("%s is denied", async (_, request) => {
  const guarded = createEgress({ allow: [], resolve: () => Promise.resolve(["93.184.216.34"]) });
  expect(await guarded.request({ timeoutMs: 1_000, ...request })).toMatchObject({ sent: false, reason: "egress_denied" });
});
