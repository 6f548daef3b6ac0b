import pino from "pino";
import type { LogEvent } from "./log-events.js";
import { redactFields, type LogFields } from "./redact-fields.js";

/** How severe an event is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes events of the catalogue, one JSON line each. */
export type Logger = Readonly<{
  debug(event: LogEvent, fields?: LogFields): void;
  info(event: LogEvent, fields?: LogFields): void;
  warn(event: LogEvent, fields?: LogFields): void;
  error(event: LogEvent, fields?: LogFields): void;
  /** The same logger with fields that stand on every line of it, such as `runId`. */
  child(fields: LogFields): Logger;
  /** Whether lines of this level are written; ask before fields are made that cost something. */
  writes(level: LogLevel): boolean;
}>;

/** Where a line goes; it ends with a line feed. */
export type LogSink = { write(line: string): void };

/** What stands on every line, and the least severe level that is written. `sink` is for tests. */
export type LoggerOptions = Readonly<{
  role: string; incarnation: string; level: LogLevel; sink?: LogSink;
  /** Ids of the span that is current where the line is written, when the process traces. */
  trace?: () => { trace_id: string; span_id: string } | undefined;
}>;

function wrap(logger: pino.Logger): Logger {
  const at = (level: LogLevel) => (event: LogEvent, fields: LogFields = {}) => {
    if (logger.isLevelEnabled(level)) logger[level](redactFields(fields), event);
  };
  return Object.freeze({
    debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"),
    child: (fields: LogFields) => wrap(logger.child(redactFields(fields))),
    writes: (level: LogLevel) => logger.isLevelEnabled(level),
  });
}

/**
 * The logger of a process: JSON lines with `time` (ISO 8601), `level`, `role`,
 * `incarnation`, `msg` and the event's flat fields. On stdout, and on stderr for
 * the command line, whose stdout is data. Lines are written before the call
 * returns, so that none is lost when the process ends. Secrets and payloads
 * never reach a line (I10).
 */
export function createLogger({ role, incarnation, level, sink, trace }: LoggerOptions): Logger {
  const destination = sink ?? pino.destination({ fd: role === "cli" ? 2 : 1, sync: true });
  return wrap(pino({
    level,
    base: { role, incarnation },
    ...(trace === undefined ? {} : { mixin: () => trace() ?? {} }),
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors come printed already.
    serializers: { err: (printed: unknown) => printed },
    formatters: { level: (label) => ({ level: label }) },
  }, destination));
}
