import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@mainstay/sdk";
import { startProxy, until } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { openStream } from "./load/open-stream.js";
import { startNginx } from "./load/start-nginx.js";
import { wireFleet } from "./load/wire-fleet.js";

defineCase({ id: "C64", title: "an idle stream through nginx is neither cut nor buffered, and a black hole is noticed and outlived", fullMinutes: 13, scaledSeconds: 20, tools: ["nginx"] }, async (on) => {
  const fleet = await on.startFleet(wireFleet);
  const nginx = await startNginx(on.tool("nginx"), fleet.apiUrl());
  on.defer(() => nginx.stop());
  const path = await startProxy(nginx.url);
  on.defer(() => path.stop());
  const url = `http://127.0.0.1:${String(path.port)}`;
  const direct = createClient({ url: fleet.apiUrl(), key: fleet.key });

  on.tell("events as they come");
  const steps = (await direct.runs.create("wire-short", { layerMs: 300 })).runId;
  const watched = openStream({ url, key: fleet.key, runId: steps });
  const opened = Date.now();
  expect(await watched.closed).toBe("ended");
  const firstMs = (watched.frames()[0]?.at ?? Number.NaN) - opened;
  const lags = watched.frames().map(({ at, data }) => at - Math.max(opened, Date.parse(data.timestamp)));
  on.measure("first byte after", firstMs, "ms");
  on.measure("an event is late by at most", Math.max(...lags), "ms");
  expect(firstMs).toBeLessThanOrEqual(1_000);
  expect(Math.max(...lags)).toBeLessThanOrEqual(1_000); // a buffer would hold them until the run ends, 3 s
  expect(watched.frames().map(({ id }) => id)).toEqual((await fleet.log(steps)).map(({ seq }) => seq));

  const idleMs = on.pick(600_000, 3_000);
  on.tell(`idle for ${String(idleMs / 1_000)} s`);
  const idle = (await direct.runs.create("wire-wait", { delayMs: idleMs + on.pick(90_000, 8_000) })).runId;
  let connections = 0;
  const counted: typeof fetch = (input, init) => {
    if (new URL(input instanceof Request ? input.url : input).pathname.endsWith("/events")) connections += 1;
    return fetch(input, init);
  };
  const seen: number[] = [];
  const client = createClient({ url, key: fleet.key, fetch: counted });
  const following = (async () => {
    for await (const event of client.runs.events(idle, on.pick({}, { silenceMs: 2_500 }))) seen.push(event.sequence);
  })();
  following.catch(() => undefined);
  const raw = openStream({ url, key: fleet.key, runId: idle });
  await raw.status;
  expect(await Promise.race([raw.closed, sleep(idleMs, "open" as const)])).toBe("open");
  if (on.scale === "full") expect(connections).toBe(1);

  on.tell("the path swallows everything");
  const before = connections;
  path.blackHole();
  const lost = performance.now();
  await until("the client to notice", () => connections > before, 45_000);
  on.measure("black hole noticed after", Math.round(performance.now() - lost), "ms");
  raw.drop();
  path.heal();
  await following;
  expect(seen).toEqual((await fleet.log(idle)).map(({ seq }) => seq));
  await fleet.waitEnded([steps, idle]);
});
