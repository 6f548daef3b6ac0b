import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../logs/create-logger.js";
import { onShutdown, type Shutdown } from "./on-shutdown.js";
import type { ShutdownStep } from "./run-step.js";

const heard = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection"] as const;
let before: Map<string, unknown[]>;
let written: { msg: string }[];
let exits: number[];

beforeEach(() => {
  before = new Map(heard.map((name) => [name, process.rawListeners(name)]));
  written = [];
  exits = [];
});
afterEach(() => {
  for (const name of heard) {
    for (const listener of process.rawListeners(name)) {
      if (before.get(name)?.includes(listener) !== true) process.removeListener(name, listener as () => void);
    }
  }
});

function start(steps: ShutdownStep[]): Shutdown {
  const logger = createLogger({
    role: "worker", incarnation: "i", level: "debug", sink: { write: (line) => { written.push(JSON.parse(line) as { msg: string }); } },
  });
  return onShutdown(logger, steps, { exit: (code) => { exits.push(code); } });
}

/** Calls the listeners that `onShutdown` added, as the event would. */
function raise(name: (typeof heard)[number], ...given: unknown[]): void {
  for (const listener of process.rawListeners(name)) {
    if (before.get(name)?.includes(listener) !== true) (listener as (...all: unknown[]) => void)(...given);
  }
}

test("a signal runs the steps once, in order, and exits with 0", async () => {
  const order: string[] = [];
  const shutdown = start([
    { name: "first", run: async () => { await Promise.resolve(); order.push("first"); } },
    { name: "second", run: () => { order.push("second"); } },
  ]);
  raise("SIGTERM", "SIGTERM");
  expect(shutdown.signal.aborted).toBe(true);
  await vi.waitFor(() => { expect(exits).toEqual([0]); });
  expect(order).toEqual(["first", "second"]);
});

test("a second signal hurries the step that runs and all later ones, a third ends at once", async () => {
  const hurried: boolean[] = [];
  start([
    { name: "drain", run: (hurry) => new Promise((resolve) => { hurry.addEventListener("abort", () => { resolve(); }); }) },
    { name: "next", run: (hurry) => { hurried.push(hurry.aborted); } },
  ]);
  raise("SIGTERM", "SIGTERM");
  raise("SIGINT", "SIGINT");
  await vi.waitFor(() => { expect(exits).toEqual([0]); });
  expect(hurried).toEqual([true]);
  raise("SIGTERM", "SIGTERM");
  expect(exits).toEqual([0, 143]);
});

test("a step that fails or outlasts its time is logged and the next one runs", async () => {
  let last = false;
  start([
    { name: "broken", run: () => Promise.reject(new Error("no")) },
    { name: "stuck", withinMs: 20, run: () => new Promise(() => undefined) },
    { name: "last", run: () => { last = true; } },
  ]);
  raise("SIGINT", "SIGINT");
  await vi.waitFor(() => { expect(exits).toEqual([0]); });
  expect(last).toBe(true);
  expect(written.map(({ msg }) => msg)).toEqual(["process stopping", "shutdown step failed", "shutdown step timed out", "process stopped"]);
});

test("a process can stop itself with an exit status, which a signal does not better", async () => {
  const shutdown = start([{ name: "step", run: () => undefined }]);
  raise("SIGTERM", "SIGTERM");
  await shutdown.begin("incarnation lapsed", 3);
  expect(exits).toEqual([3]);
});

test.each(["uncaughtException", "unhandledRejection"] as const)("an %s is logged with its stack and exits with 1 at once", (name) => {
  start([{ name: "never", run: () => { throw new Error("must not run"); } }]);
  raise(name, new Error("a bug"));
  expect(exits).toEqual([1]);
  expect(written).toMatchObject([{ msg: "process crashed", err: { message: "a bug", stack: expect.stringContaining("on-shutdown.test") as string } }]);
});
