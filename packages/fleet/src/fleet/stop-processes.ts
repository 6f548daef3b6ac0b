import { setTimeout as sleep } from "node:timers/promises";
import type { Exit, FleetProcess } from "../process/fleet-process.js";
import type { Role } from "../process/role.js";

/** Thaws and SIGTERMs the processes, SIGKILLs those that outlast `withinMs`, and answers how each ended. */
export async function stopProcesses(
  processes: readonly FleetProcess[],
  withinMs: number,
): Promise<readonly (Exit & { name: string; role: Role })[]> {
  const hurry = new AbortController();
  const bound = sleep(withinMs, undefined, { signal: hurry.signal }).then(
    () => { for (const one of processes) one.send("SIGKILL"); },
    () => undefined, // all ended in time
  );
  const exits = await Promise.all(processes.map(async (one) => {
    one.send("SIGTERM");
    one.thaw(); // a frozen process hears nothing
    return { ...(await one.exited), name: one.name, role: one.role };
  }));
  hurry.abort();
  await bound;
  return exits;
}
