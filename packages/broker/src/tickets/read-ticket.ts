import { mostRuns } from "./ticket.js";

/** Why a message of the queue is no ticket, or a part of it names no run. */
export type BadTicketReason = "unparsable" | "no_run_ids" | "too_many_runs";

/** The runs that a message names, and what is wrong with the rest of it. */
export type TicketRead = { runIds: string[]; bad: { raw: string; reason: BadTicketReason }[] };

/** Longest excerpt of a bad message that is handed on, in characters. */
const longestRaw = 16_384;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Judges the raw data of a message, run id by run id: the good ones are worth
 * a claim even when a neighbour is garbage. A run named twice is named once.
 */
export function readTicket(raw: string): TicketRead {
  const excerpt = raw.slice(0, longestRaw);
  let data: unknown;
  try {
    data = JSON.parse(raw);
  } catch {
    return { runIds: [], bad: [{ raw: excerpt, reason: "unparsable" }] };
  }
  const runs: unknown = typeof data === "object" && data !== null && "runs" in data ? data.runs : undefined;
  if (!Array.isArray(runs) || runs.length === 0) return { runIds: [], bad: [{ raw: excerpt, reason: "no_run_ids" }] };
  if (runs.length > mostRuns) return { runIds: [], bad: [{ raw: excerpt, reason: "too_many_runs" }] };
  const runIds = new Set<string>();
  const bad: TicketRead["bad"] = [];
  for (const one of runs as unknown[]) {
    if (typeof one === "string" && uuid.test(one)) runIds.add(one);
    else bad.push({ raw: JSON.stringify(one).slice(0, longestRaw), reason: "no_run_ids" });
  }
  return { runIds: [...runIds], bad };
}
