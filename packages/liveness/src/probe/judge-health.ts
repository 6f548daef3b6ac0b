import { jsonAnswer } from "./create-probe-server.js";
import type { ProbeAnswer } from "../thread/messages.js";

/** What the thread can tell of a process without asking main; milliseconds of the monotonic clock. */
export type ThreadView = { nowMs: number; loopedMs: number; validUntilMs: number; begun: boolean; lost: boolean };

/** How long beyond the wedge a main loop may stand still before the process should be replaced. */
const REPLACE_AFTER_MS = 20_000;

/** Live says that the main loop comes round, and nothing of the database: an outage replaces no process. */
export function judgeLive({ nowMs, loopedMs }: ThreadView, wedgedAfterMs: number): ProbeAnswer {
  const stillMs = Math.round(nowMs - loopedMs);
  const allowedMs = wedgedAfterMs + REPLACE_AFTER_MS;
  if (stillMs <= allowedMs) return jsonAnswer(200, { status: "live" });
  return jsonAnswer(503, { status: "unavailable", reasons: [`the main loop has stood still for ${stillMs} ms, ${allowedMs} ms are allowed`] });
}

/** Why this process is not ready whatever main says; undefined: ask main. */
export function judgeReady({ nowMs, validUntilMs, begun, lost }: ThreadView): ProbeAnswer | undefined {
  const reason = lost ? "this incarnation has lapsed"
    : !begun ? "the process has not begun: the database has not answered yet"
      : nowMs > validUntilMs ? "no heartbeat has been answered within the lease: the database is away, or the work path is not attested"
        : undefined;
  return reason === undefined ? undefined : jsonAnswer(503, { status: "unavailable", reasons: [reason] });
}
