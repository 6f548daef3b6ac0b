import { ErrorEnvelope, formatBoundId } from "@mainstay/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../auth/principal-of.js";
import type { ApiParts } from "../server/parts.js";
import { ownedRunId } from "./owned-run-id.js";
import { recordedAnswer, type RecordedAnswer } from "./recorded-answer.js";

/** A run that an operator wants moved, by whom, and the answer that an equal request has had under its key. */
export type AskedMove = RecordedAnswer & Readonly<{ id: string; runId: string; workspace: string; by: string }>;

/** Reads a request that does `operation` to the run of its path. @throws Refusal of the id or the key */
export function askedMove(parts: ApiParts, { request, reply }: { request: FastifyRequest; reply: FastifyReply }, operation: string): AskedMove {
  const { workspace, keyId } = principalOf(request);
  const id = ownedRunId((request.params as { runId: string }).runId, principalOf(request));
  const runId = formatBoundId(workspace, id);
  return { id, runId, workspace, by: keyId, ...recordedAnswer(parts, { request, reply }, { operation, body: { runId, body: request.body ?? {} } }) };
}

/** How a move may be refused. */
export const moveRefusals = {
  400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope, 409: ErrorEnvelope, 413: ErrorEnvelope, 415: ErrorEnvelope, 503: ErrorEnvelope,
} as const;
