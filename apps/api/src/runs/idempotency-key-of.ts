import { IdempotencyKey } from "@mainstay/contract";
import type { FastifyRequest } from "fastify";
import { Refusal } from "../server/refusal.js";

/** The request's `Idempotency-Key`, if it bears one. @throws Refusal `idempotency_key_invalid` */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  const key = IdempotencyKey.safeParse(header);
  if (key.success) return key.data;
  throw new Refusal("idempotency_key_invalid", "Idempotency-Key: expected 22 to 128 of A-Z a-z 0-9 . _ ~ -");
}

/** The refusal of a key that was used with another body. */
export function keyMismatch(): Refusal {
  return new Refusal("idempotency_key_mismatch", "the Idempotency-Key was used with another body; use a new key for a new request");
}
