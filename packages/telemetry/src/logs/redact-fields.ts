import { redact, redacted, secretName } from "./redact.js";

/** What a field of a log line can hold. `Error` is printed with its stack and causes. */
export type LogValue = string | number | boolean | null | undefined | bigint | Date | Error | readonly (string | number)[];

/** Flat fields of a log line. */
export type LogFields = Readonly<Record<string, LogValue>>;

/** An error as it is printed. */
export type PrintedError = { type: string; message: string; code?: string; stack?: string; cause?: PrintedError };

/** At most this many causes are printed below an error. */
const deepestCause = 8;

function printError(error: Error, depth: number): PrintedError {
  const printed: PrintedError = { type: error.name, message: redact(error.message) };
  if ("code" in error && typeof error.code === "string") printed.code = error.code;
  if (error.stack !== undefined) printed.stack = redact(error.stack);
  if (error.cause instanceof Error && depth < deepestCause) printed.cause = printError(error.cause, depth + 1);
  return printed;
}

function printValue(value: LogValue): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return printError(value, 0);
  if (Array.isArray(value)) return value.map((one: string | number) => (typeof one === "string" ? redact(one) : one));
  return value;
}

/** The fields as they may be printed. A field that cannot be looked through becomes a placeholder, never its raw text. */
export function redactFields(fields: LogFields): Record<string, unknown> {
  const printed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    try {
      printed[name] = secretName(name) ? redacted : printValue(value);
    } catch {
      printed[name] = redacted;
    }
  }
  return printed;
}
