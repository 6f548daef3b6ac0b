import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@mainstay/sdk";
import { expect } from "vitest";
import { defineCase, type CaseFleet } from "./lane/define-case.js";
import { openStream } from "./load/open-stream.js";
import { wireFleet } from "./load/wire-fleet.js";

defineCase({ id: "C60", title: "a stream dropped every two seconds, each time resumed at another api, is the stored log", fullMinutes: 5, scaledSeconds: 15 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, api: 3 });
  const urls = fleet.fleet.of("api").map(({ url }) => url);
  const [workflow, layerMs, dropMs] = on.pick(["wire-long", 1_600, 2_000] as const, ["wire-short", 250, 120] as const);
  const client = createClient({ url: urls[0] ?? "", key: fleet.key });
  const { runId } = await client.runs.create(workflow, { layerMs });

  const [raw, sdk] = await Promise.all([readRaw(fleet, { urls, runId, dropMs }), readSdk(fleet, { urls, runId, dropMs })]);
  const stored = (await fleet.log(runId)).map(({ seq, type }) => ({ seq, type }));
  on.measure("events", stored.length);
  on.measure("raw connections", raw.connections);
  on.measure("client connections", sdk.connections);
  expect(stored.length).toBeGreaterThan(on.pick(5_000, 200));
  expect(raw.seen).toEqual(stored);
  expect(sdk.seen).toEqual(stored);
  expect(raw.connections).toBeGreaterThan(10);
  expect(sdk.connections).toBeGreaterThan(on.pick(10, 4)); // it rests between two of them

  on.tell("once more, from the stored log, faster than it can be read in one connection");
  const again = await readRaw(fleet, { urls, runId, dropMs: on.pick(300, 60) });
  expect(again.seen).toEqual(stored);
  on.notRun("the console as a client", "the console");
});

type Read = { seen: { seq: number; type: string }[]; connections: number };
type Place = { urls: readonly string[]; runId: string; dropMs: number };

/** Reads by hand: every frame is taken as it comes, so a repeated or a missing one shows. Now and then it drops before any event. */
async function readRaw(fleet: CaseFleet, { urls, runId, dropMs }: Place): Promise<Read> {
  const seen: Read["seen"] = [];
  for (let connections = 1; ; connections += 1) {
    const stream = openStream({ url: urls[connections % urls.length] ?? "", key: fleet.key, runId, ...(seen.length === 0 ? {} : { after: seen.at(-1)?.seq ?? 0 }) });
    const early = connections % 5 === 0;
    const how = await Promise.race([stream.closed, early ? stream.status.then(() => "drop" as const) : sleep(dropMs, "drop" as const)]);
    stream.drop();
    for (const { id, event, data } of stream.frames()) {
      expect([id, event]).toEqual([data.sequence, data.type]);
      seen.push({ seq: id, type: event });
    }
    if (how === "ended") return { seen, connections };
  }
}

/** The same answer, whose body breaks off after a while, as by a lost connection. */
function cutAfter(response: Response, ms: number): Response {
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const cut = setTimeout(() => {
        controller.error(new Error("the connection was cut"));
        void reader.cancel();
      }, ms);
      const pump = async (): Promise<void> => {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          controller.enqueue(value);
        }
        clearTimeout(cut);
        controller.close();
      };
      pump().catch(() => undefined);
    },
    cancel: () => reader.cancel(),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** The client, whose connections are led to the next api and cut under it. */
async function readSdk(fleet: CaseFleet, { urls, runId, dropMs }: Place): Promise<Read> {
  let connections = 0;
  const fetchNext: typeof fetch = (input, init = {}) => {
    connections += 1;
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const answer = fetch(`${urls[connections % urls.length] ?? ""}${pathname}${search}`, init);
    return pathname.endsWith("/events") ? answer.then((response) => cutAfter(response, connections % 5 === 0 ? 5 : dropMs)) : answer;
  };
  const seen: Read["seen"] = [];
  for await (const { sequence, type } of createClient({ url: urls[0] ?? "", key: fleet.key, fetch: fetchNext }).runs.events(runId)) seen.push({ seq: sequence, type });
  return { seen, connections };
}
