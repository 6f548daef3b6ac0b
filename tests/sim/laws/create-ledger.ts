import { currentProcess, isDead, type SimProcess } from "../world/process.js";
import { count, isEnded, text, type Shadow } from "./shadow.js";

/** Executions as they really began: stored state hides a double one. */
export type Ledger = {
  begins: (execution: { run: string; node: string; attempt: number; fence: string }) => void;
  /** A node was suspended: the same attempt may go on. */
  suspended: (run: string, node: string) => void;
  began: () => number;
};

type Execution = { run: string; node: string; attempt: number; fence: string };

/** Keeps what code began and calls `broke` with every law that an execution breaks. `slots`: of each process. */
export function createLedger(shadow: Shadow, broke: (law: string) => void, slots: number): Ledger {
  const begun = new Map<string, Execution>();
  const inProcess = new Map<SimProcess, Map<string, string>>();
  let total = 0;
  return {
    began: () => total,
    suspended: (run, node) => {
      for (const [key, one] of begun) if (one.run === run && one.node === node) begun.delete(key);
    },
    begins: (execution) => {
      total += 1;
      const { run, node, attempt, fence } = execution;
      const short = `${run.slice(0, 8)}/${node}`;
      const key = `${run}/${node}/${attempt}/${fence}`;
      if (begun.has(key)) broke(`no (run, node, fence) begins an attempt twice (${short}, attempt ${attempt}, fence ${fence})`);
      begun.set(key, execution);
      const row = shadow.nodes.get(`${run}/${node}`);
      const runRow = shadow.runs.get(run);
      if (row === undefined || count(row, "attempts") < attempt + 1) broke(`I9: an attempt is counted before its code runs (${short}, attempt ${attempt}, stored ${count(row, "attempts")})`);
      const process = currentProcess();
      if (process === undefined || isDead(process)) broke(`the dead execute nothing (${short})`);
      if (runRow === undefined || String(count(runRow, "fence")) !== fence) return; // a holder that does not know yet: its writes are refused
      if (!isEnded(runRow) && text(row, "status") === "completed") broke(`a completed node never runs again (${short})`);
      if (process === undefined) return;
      const held = inProcess.get(process) ?? new Map<string, string>();
      inProcess.set(process, held.set(run, fence));
      for (const [other, under] of held) if (String(count(shadow.runs.get(other), "fence")) !== under || isEnded(shadow.runs.get(other)) || shadow.runs.get(other)?.["owner"] === null) held.delete(other);
      const owner = text(runRow, "owner");
      const company = [...held.keys()].filter((id) => text(shadow.runs.get(id), "owner") === owner);
      if (company.length > slots) broke(`a process executes no more runs than it has slots (${company.length} of ${slots})`);
      for (const id of company) {
        const limit = shadow.runs.get(id)?.["cohort_limit"];
        if (typeof limit === "number" && company.length > limit) broke(`H15: an isolated run has at most ${limit} in its process (${id.slice(0, 8)}: ${company.length})`);
      }
    },
  };
}
