import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { say } from "../say.mjs";

/**
 * Runs `work` while no other process on this machine runs work of the same name in this clone. The lock is a
 * folder with the owner's pid; one whose owner has died is taken over. Gives up after `waitMs`.
 */
export async function withLock(name, work, { waitMs = 15 * 60_000, folder = path.join(paths.data, "locks") } = {}) {
  fs.mkdirSync(folder, { recursive: true });
  const lock = path.join(folder, `${name}.lock`);
  await take(lock, waitMs);
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

async function take(lock, waitMs) {
  const deadline = Date.now() + waitMs;
  let announced = false;
  while (!make(lock)) {
    const owner = ownerOf(lock);
    if (owner === "dead") {
      clear(lock);
      continue;
    }
    if (Date.now() > deadline) {
      throw new Problem(`${lock} is held by process ${owner} for too long: end that process, or remove the folder`);
    }
    if (!announced && typeof owner === "number") say(`waiting for process ${owner}, which does the same (${path.basename(lock)})`);
    announced ||= typeof owner === "number";
    await sleep(200);
  }
}

function make(lock) {
  try {
    fs.mkdirSync(lock);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  fs.writeFileSync(path.join(lock, "owner"), String(process.pid));
  return true;
}

/** The owner's pid, 'dead', or undefined while the lock is being made or removed. */
function ownerOf(lock) {
  let pid;
  try {
    pid = Number(fs.readFileSync(path.join(lock, "owner"), "utf8"));
  } catch {
    const made = fs.statSync(lock, { throwIfNoEntry: false });
    return made && Date.now() - made.mtimeMs > 5_000 ? "dead" : undefined; // died between folder and pid
  }
  if (!pid) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return error.code === "ESRCH" ? "dead" : pid;
  }
}

/** Removes a dead owner's lock; the second lock keeps two clearers from removing a successor's. */
function clear(lock) {
  const clearing = `${lock}.clearing`;
  try {
    fs.mkdirSync(clearing);
  } catch {
    const made = fs.statSync(clearing, { throwIfNoEntry: false });
    if (made && Date.now() - made.mtimeMs > 5_000) fs.rmSync(clearing, { recursive: true, force: true });
    return;
  }
  try {
    if (ownerOf(lock) === "dead") fs.rmSync(lock, { recursive: true, force: true });
  } finally {
    fs.rmSync(clearing, { recursive: true, force: true });
  }
}
