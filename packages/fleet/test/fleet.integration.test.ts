import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { launchProcess, startFleet, type Fleet } from "../dist/index.js";

const program = fileURLToPath(new URL("./programs/process.mjs", import.meta.url));
const fleets: Fleet[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.stop({ withinMs: 500 });
});

async function start(options: Partial<Parameters<typeof startFleet>[0]> = {}): Promise<Fleet> {
  const fleet = await startFleet({ env: {}, entryOf: () => program, ...options });
  fleets.push(fleet);
  return fleet;
}

async function until(what: string, probe: () => unknown): Promise<void> {
  const giveUpAt = Date.now() + 5_000;
  while (!probe()) {
    if (Date.now() > giveUpAt) throw new Error(`waited 5 s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a fleet starts the processes of each role and knows where each listens", async () => {
  const fleet = await start();
  expect(fleet.processes().map(({ name }) => name).sort()).toEqual(["api-1", "relay-1", "supervisor-1", "worker-1", "worker-2"]);
  expect(new Set(fleet.processes().map(({ incarnation }) => incarnation)).size).toBe(5);
  for (const { url } of fleet.processes()) expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect(fleet.apiUrl()).toBe(fleet.of("api")[0]!.url);
});

test("a process is ready only when its probe says so", async () => {
  const began = performance.now();
  const child = await launchProcess({ role: "worker", entry: program, env: { MAINSTAY_PORT: "0", READY_AFTER: "600" } });
  expect(performance.now() - began).toBeGreaterThan(600);
  await child.kill("SIGKILL");
});

test("a process that ends instead of becoming ready is reported with what it wrote", async () => {
  await expect(launchProcess({ role: "worker", entry: program, env: { FAILS: "1" } })).rejects.toThrow(/status 78.*\nDATABASE_URL: expected a URL/s);
});

test("a process that is not ready in time is killed and reported with its probe's answer", async () => {
  const late = launchProcess({ role: "worker", entry: program, readyWithinMs: 800, env: { MAINSTAY_PORT: "0", READY_AFTER: "60000" } });
  await expect(late).rejects.toThrow(/within 800 ms; its probe last said: 503 still starting/);
});

test("the parent sees the signal that killed a child, and counts deaths by it", async () => {
  const fleet = await start();
  const [first] = fleet.of("worker");
  expect(await first!.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  expect(fleet.of("worker")).toHaveLength(1);
  expect(fleet.deaths()).toEqual({ SIGKILL: 1 });
  const exits = await fleet.stop();
  expect(exits.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(fleet.deaths()).toEqual({ SIGKILL: 1, "status 0": 4 });
});

test("a frozen process answers nothing, a thawed one goes on, and stopping thaws", async () => {
  const fleet = await start({ api: 1, relay: 0, workers: 0, supervisors: 0 });
  const [api] = fleet.of("api");
  api!.freeze();
  await expect(fetch(api!.url, { signal: AbortSignal.timeout(300) })).rejects.toThrow();
  api!.thaw();
  expect((await fetch(api!.url)).status).toBe(200);
  api!.freeze();
  expect(await fleet.stop()).toMatchObject([{ code: 0, signal: null }]);
});

test("a process deaf to SIGTERM is killed when its time is over", async () => {
  const fleet = await start({ relay: 0, supervisors: 0, workers: 0, env: { DEAF: "1" } });
  expect(await fleet.stop({ withinMs: 300 })).toMatchObject([{ signal: "SIGKILL" }]);
});

test("what a process writes stands in its log file and in its last lines", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "mainstay-fleet-"));
  const fleet = await start({ relay: 0, supervisors: 0, workers: 0, logFolder: folder });
  const [api] = fleet.of("api");
  expect(api!.lines().at(-1)!.event).toMatchObject({ msg: "process ready", port: api!.port });
  expect(readFileSync(path.join(folder, "api-1.log"), "utf8")).toContain(api!.incarnation);
  await fleet.stop();
  rmSync(folder, { recursive: true });
});

test.each(["SIGKILL", "SIGTERM"] as const)("a child ends with its parent when that dies of %s", async (signal) => {
  const parent = spawn(process.execPath, [fileURLToPath(new URL("./programs/parent.mjs", import.meta.url)), program], { stdio: ["ignore", "pipe", "inherit"] });
  const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
  const child = Number(chunk.toString());
  expect(lives(child)).toBe(true);
  parent.kill(signal);
  await until("the child's end", () => !lives(child));
});
