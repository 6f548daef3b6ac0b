import fs from "node:fs";

/** CPU milliseconds that these processes and all their descendants, ended ones too, have used so far. */
export function cpuMs(pids) {
  return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * 10; // a tick is a hundredth of a second on Linux
}

function ticksOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    return children.reduce((sum, child) => sum + ticksOf(Number(child)), own);
  } catch {
    return 0; // it has ended; its parent counts it
  }
}
