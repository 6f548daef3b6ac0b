import { ErrorEnvelope, ForkRunRequest, ForkRunResponse, formatBoundId } from "@mainstay/contract";
import { findPinnedWorkflows, forkRun, mintRunId, readForkSource, type Forked, type ForkSource, type NewFork } from "@mainstay/database";
import { rebuild, type WorkflowDocument } from "@mainstay/domain";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { Refusal } from "../server/refusal.js";
import { createInputCheck } from "../workflows/create-input-check.js";
import { checkInput } from "./check-input.js";
import { keyMismatch } from "./idempotency-key-of.js";
import { ownedRunId, unknownRun } from "./owned-run-id.js";
import { recordedAnswer } from "./recorded-answer.js";
import { canonicalOf, digestOf } from "./request-digest.js";
import { createdAnswer } from "./run-links.js";
import { traceparentOf } from "./traceparent-of.js";

const operation = "forkRun";

/**
 * `POST /runs/{runId}:fork`: a new run from any point of a retained run that has ended, whatever became of its dead
 * letter. An acceptance like any other: one statement, the same backpressure, the record of its key, an outbox row.
 */
export function addForkRun(app: App, parts: ApiParts): void {
  app.post("/runs/:runId(^[^:]+)::fork", {
    config: { scope: "runs:create" },
    schema: {
      operationId: operation,
      summary: "Forks a run that has ended",
      tags: ["runs"],
      params: z.object({ runId: z.string() }),
      body: ForkRunRequest,
      response: {
        201: ForkRunResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope,
        409: ErrorEnvelope, 413: ErrorEnvelope, 415: ErrorEnvelope, 422: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const sourceId = ownedRunId(request.params.runId, principal);
    const { body } = request;
    const sourceRunId = formatBoundId(principal.workspace, sourceId);
    const { record, replayed } = recordedAnswer(parts, { request, reply }, { operation, body: { sourceRunId, ...body } });
    const fromSeq = pointOf(body);
    const before = await replayed();
    if (before !== undefined) return reply.code(201).send(toAnswer(before));
    const source = await readForkSource(parts.database, principal.workspace, { runId: sourceId, fromSeq });
    if (source === undefined) throw unknownRun();
    const document = await documentOf(parts, source);
    const overlay = overlayOf(body, { document, maxBytes: parts.config.inputMaxBytes });
    const full = source.ended && fromSeq < source.eventCount ? parts.backpressure.refuses(principal.workspace) : undefined;
    if (full !== undefined) {
      parts.metrics.acceptRefused.inc({ reason: full });
      throw new Refusal("service_unavailable", "too many accepted runs wait for a worker; try again later", { retryAfterS: 2 });
    }
    const id = mintRunId();
    const { status, eventsUrl, runId } = createdAnswer(formatBoundId(principal.workspace, id));
    const answer: ForkRunResponse = { runId, sourceRunId, fromSeq, mode: body.mode, status, eventsUrl };
    const { nodes, open } = rebuild(document.nodes, source.events);
    const typeOf = new Map(document.nodes.map((node) => [node.id, node.typeId]));
    const forked = await forkRun(parts.database, {
      id, workspace: principal.workspace, sourceId, mode: body.mode, fromSeq, nodes, overlay,
      nextNodes: open.map((node) => ({ id: node, typeId: typeOf.get(node) ?? "" })),
      ...deadlineOf(overlay, document), ...traceparentOf(request),
      ...(record === undefined ? {} : { idempotency: { ...record, answer } }),
    }, { retentionDays: parts.config.retentionDays, dispatchBoundMs: parts.config.broker === "none" ? 0 : parts.config.dispatchBoundMs });
    if (forked.kind === "replayed" || forked.kind === "key_mismatch") {
      const twin = await replayed();
      if (twin === undefined) throw keyMismatch();
      return reply.code(201).send(toAnswer(twin));
    }
    refuse(forked, source);
    parts.hint(parts.config.broker === "none" ? "work" : "dispatch");
    parts.metrics.runsAccepted.inc({ workflow: parts.metrics.workflowLabel(source.workflowId) });
    return reply.code(201).send(answer);
  });
}

/** The fork point. @throws Refusal where the mode and the other members do not go together */
function pointOf({ mode, fromSeq, runOptionsOverlay }: ForkRunRequest): number {
  if (mode === "branch" && fromSeq === undefined) {
    throw new Refusal("validation_error", "fromSeq: expected the sequence to branch at", { details: { field: "fromSeq" } });
  }
  if (mode === "replay" && runOptionsOverlay !== undefined) {
    throw new Refusal("validation_error", "runOptionsOverlay: a replay changes nothing; leave it out, or use mode branch", { details: { field: "runOptionsOverlay" } });
  }
  return fromSeq ?? 0;
}

async function documentOf({ database }: ApiParts, { specHash, workflowId }: ForkSource): Promise<WorkflowDocument> {
  const [pinned] = await findPinnedWorkflows(database, [specHash]);
  if (pinned === undefined) throw new Refusal("not_found", `the definition of workflow "${workflowId}" that the run was accepted with is not registered any more`);
  return pinned.document;
}

function overlayOf({ runOptionsOverlay = {} }: ForkRunRequest, { document, maxBytes }: { document: WorkflowDocument; maxBytes: number }): NewFork["overlay"] {
  const { inputs, tags, metadata, configurable } = runOptionsOverlay;
  const text = inputs === undefined ? undefined : canonicalOf(inputs);
  if (text !== undefined) checkInput(text, inputs, { workflow: { workflowId: document.id, checkInput: createInputCheck(document) }, maxBytes });
  return {
    ...(text === undefined ? {} : { input: { text, digest: digestOf(text) } }),
    ...(tags === undefined ? {} : { tags }), ...(metadata === undefined ? {} : { metadata }), ...(configurable === undefined ? {} : { configurable }),
  };
}

/** Its own time-out only where it was asked for: else the fork has as long as its source had. */
function deadlineOf({ configurable }: NewFork["overlay"], { settings }: WorkflowDocument): { runTimeoutMs?: number } {
  const asked = (configurable?.["run"] as { runTimeoutMs?: number } | undefined)?.runTimeoutMs;
  return asked === undefined ? {} : { runTimeoutMs: Math.min(asked, settings.runTimeoutMs ?? asked) };
}

function refuse(forked: Forked, { status }: ForkSource): void {
  if (forked.kind === "not_found") throw unknownRun();
  if (forked.kind === "no_such_point") throw new Refusal("fork_point_invalid", "fromSeq: expected a sequence of the run's log");
  if (forked.kind === "not_ended") {
    throw new Refusal("run_state_conflict", `the run is ${status}; a fork is taken of a run that has ended`, { details: { runStatus: status } });
  }
}

/** Members in a fixed order: a recorded answer comes back as it was sent. */
function toAnswer(body: Readonly<Record<string, unknown>>): ForkRunResponse {
  const { runId, sourceRunId, fromSeq, mode, status, eventsUrl } = body as ForkRunResponse;
  return { runId, sourceRunId, fromSeq, mode, status, eventsUrl };
}
