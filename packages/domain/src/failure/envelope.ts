import { failureClasses, type FailureClass } from "./classes.js";
import { findFailure, wireCode, type AppFailures } from "./registry.js";

/** `failure/v1`, as stored. Text is redacted and bounded before it gets here. */
export type FailureEnvelope = {
  schemaVersion: 1;
  class: FailureClass;
  /** `platform.x` or `app.y`. */
  code: string;
  retryable: boolean;
  deterministic: boolean;
  message: string;
  remediation: string;
  component?: string;
  operation?: string;
  attributes: Readonly<Record<string, string | number | boolean>>;
  cause: readonly { code?: string; message: string }[];
};

/** At most so many causes are kept. */
export const MAX_CAUSES = 8;

/** Builds the envelope of a code. A code that is not registered becomes `platform.unclassified`. */
export function toEnvelope(
  code: string,
  more: { app?: AppFailures; component?: string; operation?: string; attributes?: Record<string, string | number | boolean>; cause?: readonly { code?: string; message: string }[] } = {},
): FailureEnvelope {
  const found = findFailure(code, more.app);
  const known = found ?? findFailure("platform.unclassified");
  if (known === undefined) throw new Error("platform.unclassified is not registered");
  return {
    schemaVersion: 1,
    class: known.class,
    code: found ? code : "platform.unclassified",
    retryable: failureClasses[known.class].retryable,
    deterministic: known.deterministic,
    message: known.message,
    remediation: known.remediation,
    ...(more.component === undefined ? {} : { component: more.component }),
    ...(more.operation === undefined ? {} : { operation: more.operation }),
    attributes: more.attributes ?? {},
    cause: (more.cause ?? []).slice(0, MAX_CAUSES),
  };
}

/** The error of `run.failed`, `node.failed` and the snapshot. */
export function toWireError(failure: FailureEnvelope, disposition?: string): { code: string; message: string; details: Record<string, string> } {
  return {
    code: wireCode(failure.code),
    message: failure.message,
    details: { class: failure.class, code: failure.code, ...(disposition === undefined ? {} : { disposition }) },
  };
}

/** What groups incidents; the caller hashes it (SHA-256). */
export const fingerprintOf = (failure: FailureEnvelope): string =>
  [failure.class, failure.code, failure.component ?? "", failure.operation ?? ""].join("\u001f");
