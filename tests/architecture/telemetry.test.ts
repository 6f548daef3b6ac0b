import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readTree, root } from "./read-tree.js";

const sources = readTree().flatMap((room) => room.files).filter(({ path: file }) => !file.endsWith(".test.ts"));
const keysOf = (file: string, line: RegExp) => [...readFileSync(path.join(root, "packages/telemetry/src", file), "utf8").matchAll(line)].map(([, key]) => key ?? "");
const unused = (keys: readonly string[], of: string) => keys.filter((key) => !sources.some(({ text }) => new RegExp(`\\b${of}\\??\\.${key}\\b`).test(text)));

test("every metric of the catalogue is reported by somebody", () => {
  const keys = ["run", "recovery", "process"].flatMap((group) => keysOf(`metrics/${group}-metrics.ts`, /^ {2}(\w+): (?:counter|gauge|histogram)\(/gm));
  expect(keys.length).toBeGreaterThan(40);
  expect(unused(keys, "(?:metrics|instruments)")).toEqual([]);
});

test("every event of the log's catalogue is written by somebody", () => {
  const keys = keysOf("logs/log-events.ts", /^ {2}(\w+): "/gm);
  expect(keys.length).toBeGreaterThan(30);
  expect(unused(keys, "logEvents")).toEqual([]);
});

test("nothing of OpenTelemetry is loaded unless tracing is on: one file imports it, and that one is imported on demand", () => {
  const importers = sources.filter(({ text }) => /from "@opentelemetry\//.test(text)).map(({ path: file }) => file);
  expect(importers).toEqual(["packages/telemetry/src/tracing/open-tracing.ts"]);
  const doors = sources.filter(({ text }) => /open-tracing\.js"/.test(text));
  expect(doors.map(({ path: file }) => file)).toEqual(["packages/telemetry/src/tracing/create-tracing.ts"]);
  expect(doors[0]?.text).toMatch(/mode === "off"\) return undefined;\n\s+const \{ openTracing \} = await import\("\.\/open-tracing\.js"\)/);
});
