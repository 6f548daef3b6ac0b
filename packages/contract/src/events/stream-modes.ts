import type { EventType } from "./payloads.js";

/** The modes of `GET /runs/{runId}/events`; several of the last three may be joined by commas. */
export const streamModes = ["values", "updates", "messages", "debug"] as const;

/** What `streamMode` may hold as a whole. */
export const streamModeGrammar = /^(values|(updates|messages|debug)(,(updates|messages|debug))*)$/;

/** Event types that the modes `updates` and `values` show; `debug` shows every type, `messages` none of ours. */
const updates: ReadonlySet<EventType> = new Set<EventType>([
  "run.started",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.dead-lettered",
  "run.paused",
  "run.resumed",
  "run.resume-started",
  "node.completed",
  "node.failed",
  "node.skipped",
  "node.cancelled",
]);

/**
 * Says which event types a stream shows.
 * @returns `undefined` for a mode outside the grammar (`unsupported_stream_mode`), else a test of the type.
 */
export function streamFilter(streamMode: string): ((type: string) => boolean) | undefined {
  if (!streamModeGrammar.test(streamMode)) return undefined;
  const modes = new Set(streamMode.split(","));
  if (modes.has("debug")) return () => true;
  if (modes.has("updates") || modes.has("values")) return (type) => updates.has(type as EventType);
  return () => false;
}

/** The three types that end a run; exactly one of them stands in a finished log. */
export function isTerminalEvent(type: string): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled";
}
