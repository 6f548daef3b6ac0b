import { readFileSync } from "node:fs";

/** Resident memory of a process, in bytes, as Linux counts it. */
export function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1] ?? Number.NaN) * 1_024;
}
