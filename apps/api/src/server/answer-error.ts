import { errorStatus, preferredVersion } from "@mainstay/contract";
import { isTransient, type Queryable } from "@mainstay/database";
import { JsonRefused } from "@mainstay/domain";
import { limitLines, logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import { keepRefusal } from "../runs/keep-refusal.js";
import { Refusal } from "./refusal.js";

/** What the error handler needs to know of the process. */
export type AnswerErrorParts = Readonly<{
  logger: Logger;
  bodyMaxBytes: number;
  database: Queryable;
  metrics: Pick<Metrics, "idempotentReplays">;
}>;

/** While the database is away every request fails alike. */
const WARNINGS_PER_SECOND = 5;

/** Answers any error with the envelope. A bug is logged with its stack and answered `internal_error`, without it. */
export function createAnswerError(parts: AnswerErrorParts) {
  const warn = limitLines((fields) => { parts.logger.warn(logEvents.requestFailed, fields); }, { perSecond: WARNINGS_PER_SECOND });
  return async function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const judged = toRefusal(error, parts);
    const kept = await keepRefusal(judged, { request, database: parts.database });
    if (kept.replayed) {
      parts.metrics.idempotentReplays.inc();
      void reply.header("openwop-idempotent-replay", "true");
    }
    const { refusal } = kept;
    const status = errorStatus[refusal.code];
    if (status >= 500) {
      const seen = { requestId: request.id, route: request.routeOptions.url ?? "unknown", err: asError(error) };
      if (status === 503) warn(seen);
      else parts.logger.error(logEvents.requestFailed, seen);
    }
    // closing under a body that still comes would lose the answer on its way; the rest is discarded within the request's time
    if (refusal.code === "payload_too_large") void reply.header("connection", "keep-alive");
    if (status === 401 || status === 403) void reply.header("www-authenticate", "Bearer");
    const { retryAfterS = status === 429 || status === 503 ? 1 : undefined, allow, details } = refusal.detail;
    if (retryAfterS !== undefined) void reply.header("retry-after", String(retryAfterS));
    if (allow !== undefined) void reply.header("allow", allow);
    return reply
      .code(status)
      .header("openwop-version", preferredVersion)
      .header("content-type", "application/json; charset=utf-8")
      .serializer(JSON.stringify)
      .send({ error: refusal.code, message: refusal.message, ...(details === undefined ? {} : { details }) });
  };
}

function toRefusal(error: unknown, parts: AnswerErrorParts): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof JsonRefused) {
    const place = error.path === "" ? "the body" : error.path;
    return invalid(`${place}: ${error.message}`, error.path);
  }
  if (hasZodFastifySchemaValidationErrors(error)) {
    const [first] = error.validation;
    const path = fieldOf(first?.instancePath ?? "", first?.params);
    const place = path === "" ? (error.validationContext ?? "body") : path;
    return invalid(`${place}: ${first?.message ?? "not valid"}`, path);
  }
  if (isTransient(error)) {
    return new Refusal("service_unavailable", "the database gave no answer; try again with the same Idempotency-Key", { retryAfterS: 1 });
  }
  return ofFramework(error as Partial<FastifyError>, parts);
}

function ofFramework({ code, statusCode, message }: Partial<FastifyError>, parts: AnswerErrorParts): Refusal {
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Refusal("payload_too_large", `the body is larger than ${String(parts.bodyMaxBytes)} bytes; send less, or pass data by reference`, {
      details: { limit: "MAINSTAY_BODY_MAX_BYTES", maxBytes: parts.bodyMaxBytes },
    });
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return new Refusal("unsupported_media_type", "expected content-type application/json");
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Refusal("validation_error", message ?? "the request is malformed");
  }
  return new Refusal("internal_error", "the api failed; the request id names this failure in its log");
}

function invalid(message: string, field: string): Refusal {
  return new Refusal("validation_error", message, field === "" ? {} : { details: { field } });
}

/** `/configurable/run/runTimeoutMs` → `configurable.run.runTimeoutMs`; an unknown member is named itself. */
function fieldOf(pointer: string, params: unknown): string {
  const path = pointer.split("/").filter((part) => part !== "");
  const keys = (params as { keys?: unknown } | undefined)?.keys;
  if (Array.isArray(keys) && typeof keys[0] === "string") path.push(keys[0]);
  return path.join(".");
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
