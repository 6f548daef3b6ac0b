import { awaitReady, type ReadyOptions } from "./await-ready.js";
import type { FleetProcess } from "./fleet-process.js";
import { startProcess, type ProcessOptions } from "./start-process.js";

/**
 * Starts one process of the fleet as a real child and waits until it is ready. The child ends with this process, also
 * when this one is killed.
 *
 * @throws when it ends first or is not ready in time; then it has been killed.
 */
export async function launchProcess(options: ProcessOptions & ReadyOptions): Promise<FleetProcess> {
  const started = startProcess(options);
  try {
    return await awaitReady(started, options);
  } catch (error) {
    await started.kill("SIGKILL");
    throw error;
  }
}
