import { errorStatus, isErrorCode } from "@mainstay/contract";
import { rememberAnswer, type Queryable } from "@mainstay/database";
import type { FastifyRequest } from "fastify";
import { Refusal } from "../server/refusal.js";
import { keyMismatch } from "./idempotency-key-of.js";

/** Statuses whose cause the same request may outgrow: never kept under a key. */
const passing: ReadonlySet<number> = new Set([400, 401, 403, 429]);

/**
 * Keeps a definite refusal (404, 409, 413, 422 …) under the request's `Idempotency-Key`, so that the same request gets
 * the same answer for 24 hours; answers the one that was kept before, if there is one. A refusal that says when to try
 * again, or speaks of the key itself, is not kept. While the database is away the refusal stands as it is.
 */
export async function keepRefusal(
  refusal: Refusal, { request, database }: { request: FastifyRequest; database: Queryable },
): Promise<{ refusal: Refusal; replayed: boolean }> {
  const status = errorStatus[refusal.code];
  const { asked, principal } = request;
  const definite = status < 500 && !passing.has(status) && refusal.detail.retryAfterS === undefined && !refusal.code.startsWith("idempotency_");
  if (asked === undefined || principal === undefined || !definite) return { refusal, replayed: false };
  const { details } = refusal.detail;
  try {
    const before = await rememberAnswer(database, {
      workspace: principal.workspace, ...asked, status,
      body: { error: refusal.code, message: refusal.message, ...(details === undefined ? {} : { details }) },
    });
    if (before === undefined) return { refusal, replayed: false };
    if (!before.sameBody) return { refusal: keyMismatch(), replayed: false };
    return before.status >= 400 ? { refusal: toKeptRefusal(before.body), replayed: true } : { refusal, replayed: false };
  } catch {
    return { refusal, replayed: false };
  }
}

/** A refusal from the envelope it was kept as. */
export function toKeptRefusal(body: Readonly<Record<string, unknown>>): Refusal {
  const { error, message, details } = body;
  const code = typeof error === "string" && isErrorCode(error) ? error : "internal_error";
  return new Refusal(code, String(message), details === undefined ? {} : { details: details as Record<string, unknown> });
}
