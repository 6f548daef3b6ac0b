import { readIdempotency } from "@mainstay/database";
import type { FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../auth/principal-of.js";
import type { ApiParts } from "../server/parts.js";
import { idempotencyKeyOf, keyMismatch } from "./idempotency-key-of.js";
import { toKeptRefusal } from "./keep-refusal.js";
import { canonicalOf, digestOf } from "./request-digest.js";

/** A request under its key: what is recorded with the answer, and the answer that was recorded before. */
export type RecordedAnswer = Readonly<{
  record: { operation: string; key: string; bodyDigest: string } | undefined;
  /** The body of an equal request that came first; the reply is marked. @throws Refusal kept, or of another body */
  replayed: () => Promise<Record<string, unknown> | undefined>;
}>;

/** Reads the `Idempotency-Key` of a request that does `operation` to `asked`, and notes it for a kept refusal. */
export function recordedAnswer(
  parts: ApiParts, { request, reply }: { request: FastifyRequest; reply: FastifyReply }, asked: { operation: string; body: unknown },
): RecordedAnswer {
  const key = idempotencyKeyOf(request);
  const record = key === undefined ? undefined : { operation: asked.operation, key, bodyDigest: digestOf(canonicalOf(asked.body)) };
  request.asked = record;
  return {
    record,
    async replayed() {
      const { workspace } = principalOf(request);
      const found = record === undefined ? undefined : await readIdempotency(parts.database, { workspace, ...record });
      if (found === undefined) return undefined;
      if (!found.sameBody) throw keyMismatch();
      if (found.status >= 400) throw toKeptRefusal(found.body);
      parts.metrics.idempotentReplays.inc();
      void reply.header("openwop-idempotent-replay", "true");
      return found.body;
    },
  };
}
