import { isAway } from "@mainstay/database";
import { logEvents, type LogFields } from "@mainstay/telemetry";
import type { FromThread } from "./messages.js";

export type Report = {
  say: (level: "debug" | "info" | "warn" | "error", event: Extract<FromThread, { kind: "log" }>["event"], fields?: LogFields) => void;
  /** Says once that the database is away, until it answers again; anything else is said every time. */
  failed: (error: unknown) => void;
  /** The database answered. */
  answered: () => void;
};

/** The thread's log lines, written by main. */
export function createReport(post: (message: FromThread) => void): Report {
  let away = false;
  const say: Report["say"] = (level, event, fields = {}) => post({ kind: "log", level, event, fields });
  return {
    say,
    failed: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (!isAway(error)) { say("error", logEvents.heartbeatFailed, { reason }); return; }
      if (away) return;
      away = true;
      say("warn", logEvents.databaseUnreachable, { reason });
    },
    answered: () => {
      if (!away) return;
      away = false;
      say("info", logEvents.databaseReachable);
    },
  };
}
