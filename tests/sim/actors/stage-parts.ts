import type { Database } from "@mainstay/database";
import type { Logger, Metrics } from "@mainstay/telemetry";

type LogFields = Parameters<Logger["info"]>[1];
import { theWorld } from "../world/world.js";

const nothing = (): undefined => undefined;
const gauge = { inc: nothing, set: nothing, observe: nothing, dec: nothing };

/** Metrics that nobody reads. */
export const silentMetrics = new Proxy({}, {
  get: (_target, name) => {
    if (name === "beforeScrape") return nothing;
    if (name === "workflowLabel") return (id: string) => id;
    if (name === "text") return async () => "";
    return gauge;
  },
}) as unknown as Metrics;

/** Log lines go to the seed's own record, where a failing seed shows them. */
export function loggerOf(name: string): Logger {
  const say = (event: string, fields?: LogFields): void => { theWorld().note(`      ${name} says ${event} ${describe(fields)}`); };
  const logger: Logger = { debug: () => {}, info: say, warn: say, error: say, child: () => logger, writes: (level) => level !== "debug" };
  return logger;
}

function describe(fields: unknown): string {
  if (typeof fields !== "object" || fields === null) return "";
  return Object.entries(fields).map(([name, value]) => `${name}=${value instanceof Error ? value.message : String(value)}`).join(" ").slice(0, 200);
}

/** The working pool of one modelled process: every statement is a step. */
export function poolOf(timeoutMs: number): Database {
  return {
    query: (statement, values) => theWorld().send({ statement, values, timeoutMs }) as Promise<never>,
    read: () => Promise.reject(new Error("the simulation reads nothing as the api does")),
    transact: () => Promise.reject(new Error("the simulation makes no operator's decision")),
    pool: () => ({ size: 5, inUse: 0, waiting: 0 }),
    end: async () => {},
  };
}
