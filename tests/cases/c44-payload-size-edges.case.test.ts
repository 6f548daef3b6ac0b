import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createClient } from "@mainstay/sdk";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { memoryOf } from "./load/memory-of.js";
import { wireFleet } from "./load/wire-fleet.js";

/** The documented limits: `MAINSTAY_INPUT_MAX_BYTES`, `MAINSTAY_BODY_MAX_BYTES`, `MAINSTAY_OUTPUT_MAX_BYTES`. */
const inputMax = 262_144;
const bodyMax = 1_048_576;
const outputMax = 262_144;
const hugeBytes = 50 * 1_048_576;
/** Twenty connections with twice the limit each, and what the garbage collector leaves lying. */
const mayGrow = 20 * 2 * bodyMax + 32 * 1_048_576;

defineCase({ id: "C44", title: "payloads up to a limit work, above it the answer names the limit and nothing grows", fullMinutes: 4, scaledSeconds: 20 }, async (on) => {
  const fleet = await on.startFleet(wireFleet);
  const pid = fleet.fleet.of("api")[0]?.pid ?? 0;
  const url = `${fleet.apiUrl()}/runs`;
  const post = (body: string | Buffer, headers: Record<string, string> = {}) => askRaw({ url, key: fleet.key, body, headers });
  const inputOf = (bytes: number): string => `{"workflowId":"wire-echo","inputs":${JSON.stringify("x".repeat(bytes - 2))}}`;
  const runIds: string[] = [];

  on.tell("inputs at the edges");
  expect((await post("")).status).toBe(400);
  for (const bytes of [2, 1_024, inputMax - 1, inputMax]) {
    const made = await post(inputOf(bytes));
    expect([bytes, made.status]).toEqual([bytes, 201]);
    runIds.push(String(made.json()["runId"]));
  }
  const over = await post(inputOf(inputMax + 1));
  expect([over.status, over.json()["error"], over.json()["details"]]).toEqual([413, "payload_too_large", { limit: "MAINSTAY_INPUT_MAX_BYTES", maxBytes: inputMax }]);
  const body = (bytes: number): string => `{"workflowId":"wire-echo"${" ".repeat(bytes - 26)}}`;
  const whole = await post(body(bodyMax));
  expect(whole.status).toBe(201);
  runIds.push(String(whole.json()["runId"]));
  const beyond = await post(body(bodyMax + 1));
  expect([beyond.status, beyond.json()["details"]]).toEqual([413, { limit: "MAINSTAY_BODY_MAX_BYTES", maxBytes: bodyMax }]);

  on.tell("twenty bodies of 50 MB at once, announced and in chunks; a compressed one");
  const before = memoryOf(pid);
  let most = before;
  const watch = setInterval(() => { most = Math.max(most, memoryOf(pid)); }, 20);
  on.defer(() => { clearInterval(watch); });
  const huge = Buffer.alloc(hugeBytes, 0x20);
  const uploads = await Promise.all(Array.from({ length: 20 }, (_, index) => upload(url, { key: fleet.key, body: huge, announced: index % 2 === 0 })));
  expect(new Set(uploads.map(({ status }) => status))).toEqual(new Set([413]));
  for (const { tookMs } of uploads) expect(tookMs).toBeLessThan(20_000);
  for (const encoding of ["gzip", "deflate", "br"]) {
    const bomb = await post(gzipSync(huge), { "content-encoding": encoding });
    expect([bomb.status, bomb.json()["error"]]).toEqual([415, "unsupported_media_type"]);
  }
  clearInterval(watch);
  on.measure("api memory before", Math.round(before / 1_048_576), "MB");
  on.measure("api memory at most", Math.round(most / 1_048_576), "MB");
  expect(most - before).toBeLessThanOrEqual(mayGrow);

  if (on.scale === "full") {
    on.tell("two hundred uploads of one byte a second");
    const began = performance.now();
    const slow = Array.from({ length: 200 }, () => drip(url, fleet.key));
    const inTheMiddle = await post(inputOf(10));
    expect(inTheMiddle.status).toBe(201);
    runIds.push(String(inTheMiddle.json()["runId"]));
    await Promise.all(slow);
    on.measure("slow uploads cut after", Math.round((performance.now() - began) / 1_000), "s");
    expect(performance.now() - began).toBeLessThan(45_000);
    expect(memoryOf(pid) - before).toBeLessThanOrEqual(mayGrow);
  }

  on.tell("outputs and thrown texts at the edges");
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  for (const bytes of [2, 1_024, outputMax - 1, outputMax]) {
    const { runId } = await client.runs.create("wire-big", { bytes });
    expect([bytes, (await client.runs.result(runId)).status]).toEqual([bytes, "completed"]);
  }
  for (const inputs of [{ bytes: outputMax + 1 }, { bytes: hugeBytes }]) {
    const { runId } = await client.runs.create("wire-big", inputs);
    const { status, error } = await client.runs.result(runId);
    expect([status, error?.code, error?.details]).toEqual(["failed", "payload_too_large", { class: "POISONED_INPUT", code: "platform.data_limit_exceeded", disposition: "handler_error" }]);
    expect((await fleet.log(runId)).map(({ type }) => type).filter((type) => type.startsWith("node."))).toEqual(["node.started", "node.failed"]);
  }
  for (const error of [1_024, outputMax + 1, hugeBytes]) {
    const { runId } = await client.runs.create("wire-big", { error });
    expect((await client.runs.result(runId)).error?.message.length).toBeLessThan(1_000);
    expect((await fleet.log(runId)).filter(({ type }) => type === "node.started")).toHaveLength(1);
  }
  on.notRun("webhook body", "webhooks");
  expect(new Set((await fleet.waitEnded(runIds)).values())).toEqual(new Set(["completed"]));
});

/** Sends a body until the server answers or cuts it, and reads the answer. */
function upload(url: string, { key, body, announced }: { key: string; body: Buffer; announced: boolean }): Promise<{ status: number; tookMs: number }> {
  const { hostname, port, pathname } = new URL(url);
  const began = performance.now();
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      if (answer.endsWith("}")) socket.end(); // the envelope is whole
    });
    socket.on("close", () => { resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), tookMs: performance.now() - began }); });
    socket.write(`POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`);
    socket.write(announced ? `content-length: ${String(body.length)}\r\n\r\n` : "transfer-encoding: chunked\r\n\r\n");
    const send = (at: number): void => {
      if (socket.destroyed || answer !== "") return;
      if (at >= body.length) { socket.write(announced ? "" : "0\r\n\r\n"); return; }
      const part = body.subarray(at, at + 65_536);
      if (!announced) socket.write(`${part.length.toString(16)}\r\n`);
      const free = socket.write(part);
      if (!announced) socket.write("\r\n");
      if (free) setImmediate(() => { send(at + part.length); });
      else socket.once("drain", () => { send(at + part.length); });
    };
    send(0);
  });
}

/** One byte of a body a second, until the server ends the connection. */
async function drip(url: string, key: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  let open = true;
  socket.on("error", () => undefined);
  socket.on("close", () => { open = false; });
  socket.resume();
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`);
  while (open) {
    socket.write(" ");
    await sleep(1_000);
  }
}
