import { z } from "zod";

/** Any error code on the wire: a registered one, or a vendor's `org.code` (never `openwop.*`). */
export const WireErrorCode = z
  .string()
  .regex(/^([a-z][a-z0-9_]*|(?!openwop\.)[a-z][a-z0-9]*(-[a-z0-9]+)*\.[a-z][a-z0-9_]*)$/);

/**
 * The one error body of both surfaces: closed, `message` says what was expected, what was seen, what to do.
 * `details` never carries timing; that is in the `Retry-After` header only.
 */
export const ErrorEnvelope = z
  .strictObject({
    error: WireErrorCode,
    message: z.string().min(1),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "ErrorEnvelope" });
/** See the schema of the same name. */
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

/** The error inside `run.failed`, `node.failed` and a snapshot; `details` carries `{ class, code, disposition }`. */
export const RunError = z
  .strictObject({
    code: WireErrorCode,
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
    retryable: z.boolean().optional(),
  })
  .meta({ id: "RunError" });
/** See the schema of the same name. */
export type RunError = z.infer<typeof RunError>;
