import path from "node:path";
import type { ReadyOptions } from "../process/await-ready.js";
import type { Exit, FleetProcess } from "../process/fleet-process.js";
import { launchProcess } from "../process/launch-process.js";
import type { Role } from "../process/role.js";
import { entryOf } from "./entry-of.js";
import { stopProcesses } from "./stop-processes.js";

/** How many of each role, and what they share. */
export type FleetOptions = ReadyOptions & Readonly<{
  /** Processes of each role; default 1, 1, 2, 1. */
  api?: number;
  relay?: number;
  workers?: number;
  supervisors?: number;
  /** The whole environment of every process; nothing of the parent's is added. Ports are set per process. */
  env: Readonly<Record<string, string | undefined>>;
  /** The first api's port; default 0, any free one. Every other process takes a free one. */
  apiPort?: number;
  /** One file per process, `<name>.log`, appended. Default: memory only. */
  logFolder?: string;
  /** The program of a role; default `apps/<role>/dist/main.js`. */
  entryOf?: (role: Role) => string;
}>;

/** What one more process may have of its own. */
export type AddOptions = Readonly<{ env?: Readonly<Record<string, string | undefined>>; port?: number }>;

/** The processes of one fleet, all of them children of this process. */
export type Fleet = Readonly<{
  /** Every process ever started here, the dead ones too, in the order of their start. */
  processes: () => readonly FleetProcess[];
  /** The living processes of a role. */
  of: (role: Role) => readonly FleetProcess[];
  /** The address of the first living api. @throws when none lives. */
  apiUrl: () => string;
  /** Starts one more and waits until it is ready. Its `env` is laid over the fleet's. */
  add: (role: Role, options?: AddOptions) => Promise<FleetProcess>;
  /** How many ended by which signal (`SIGKILL`) or exit status (`status 0`). */
  deaths: () => Readonly<Record<string, number>>;
  /**
   * Thaws and SIGTERMs every living process, SIGKILLs those that outlast `withinMs` (default 30,000), and answers how
   * each of them ended.
   */
  stop: (options?: { withinMs?: number }) => Promise<readonly (Exit & { name: string; role: Role })[]>;
}>;

/**
 * Starts a fleet and waits until every process is ready.
 *
 * @throws when one of them does not become ready; then all have been killed.
 */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { api = 1, relay = 1, workers = 2, supervisors = 1, apiPort = 0 } = options;
  const processes: FleetProcess[] = [];
  const started: Record<Role, number> = { api: 0, relay: 0, worker: 0, supervisor: 0 };
  const deaths: Record<string, number> = {};

  const add = async (role: Role, { env = {}, port = 0 }: AddOptions = {}): Promise<FleetProcess> => {
    started[role] += 1;
    const name = `${role}-${started[role]}`;
    const launched = await launchProcess({
      ...options, role, name,
      entry: (options.entryOf ?? entryOf)(role),
      env: { ...options.env, MAINSTAY_PORT: String(port), ...env },
      ...(options.logFolder === undefined ? {} : { logFile: path.join(options.logFolder, `${name}.log`) }),
    });
    processes.push(launched);
    void launched.exited.then(({ code, signal }) => {
      const how = signal ?? `status ${String(code)}`;
      deaths[how] = (deaths[how] ?? 0) + 1;
    });
    return launched;
  };
  const living = (): FleetProcess[] => processes.filter((one) => one.exit() === undefined);

  const wanted = ([["api", api], ["relay", relay], ["worker", workers], ["supervisor", supervisors]] as const).flatMap(
    ([role, count]) => Array.from({ length: count }, (_, index) => ({ role, port: role === "api" && index === 0 ? apiPort : 0 })),
  );
  const outcomes = await Promise.allSettled(wanted.map(({ role, port }) => add(role, { port })));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure !== undefined) {
    await Promise.all(living().map((one) => one.kill("SIGKILL")));
    throw failure.reason;
  }
  return Object.freeze({
    processes: () => processes,
    of: (role: Role) => living().filter((one) => one.role === role),
    apiUrl() {
      const first = living().find((one) => one.role === "api");
      if (first === undefined) throw new Error("no api of this fleet lives; add one");
      return first.url;
    },
    add,
    deaths: () => ({ ...deaths }),
    stop: ({ withinMs = 30_000 } = {}) => stopProcesses(living(), withinMs),
  });
}
