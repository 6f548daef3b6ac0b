import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./with-lock.mjs";

let folder;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "mainstay-lock-"));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const module = new URL("./with-lock.mjs", import.meta.url).href;

/** A process that adds a line before and after a moment's work under the lock. */
function contender(log) {
  const code = `
    import fs from "node:fs";
    const { withLock } = await import(${JSON.stringify(module)});
    await withLock("work", async () => {
      fs.appendFileSync(${JSON.stringify(log)}, "in\\n");
      await new Promise((resolve) => setTimeout(resolve, 50));
      fs.appendFileSync(${JSON.stringify(log)}, "out\\n");
    }, { folder: ${JSON.stringify(folder)} });`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
}

function abandonedBy(pid) {
  fs.mkdirSync(path.join(folder, "work.lock"));
  fs.writeFileSync(path.join(folder, "work.lock/owner"), String(pid));
}

test("processes that start at once, over a dead owner's lock, work one after the other", async () => {
  const dead = spawnSync("true").pid;
  abandonedBy(dead);
  const log = path.join(folder, "log");
  const all = Array.from({ length: 5 }, () => contender(log));
  await Promise.all(all.map((child) => once(child, "exit")));
  expect(fs.readFileSync(log, "utf8")).toBe("in\nout\n".repeat(5));
});

test("a lock whose owner lives is waited for and then named in the error", async () => {
  abandonedBy(process.pid);
  await expect(withLock("work", () => "never", { folder, waitMs: 50 })).rejects.toThrow(`is held by process ${process.pid}`);
});

test("the lock is given back when the work fails", async () => {
  await expect(withLock("work", () => Promise.reject(new Error("no")), { folder })).rejects.toThrow("no");
  expect(await withLock("work", () => "yes", { folder })).toBe("yes");
});
