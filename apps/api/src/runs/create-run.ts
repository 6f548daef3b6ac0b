import {
  apiKeyIssuer, CreateRunRequest, CreateRunResponse, ErrorEnvelope, formatBoundId, maxRunDurationMs, type Owner,
} from "@mainstay/contract";
import { mintRunId, readIdempotency, type NewRun } from "@mainstay/database";
import { firstNodes } from "@mainstay/domain";
import { logEvents } from "@mainstay/telemetry";
import type { FastifyRequest } from "fastify";
import { principalOf } from "../auth/principal-of.js";
import type { Principal } from "../auth/principal.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { Refusal } from "../server/refusal.js";
import type { CataloguedWorkflow } from "../workflows/create-workflow-catalogue.js";
import { checkInput } from "./check-input.js";
import { idempotencyKeyOf, keyMismatch } from "./idempotency-key-of.js";
import { toKeptRefusal } from "./keep-refusal.js";
import { canonicalOf, digestOf } from "./request-digest.js";
import { createdAnswer } from "./run-links.js";
import { traceparentOf } from "./traceparent-of.js";

const operation = "createRun";

/** Members of the closed body that this host does not serve. */
const notProvided = ["residency", "mode", "evalSuiteRef", "agentId"] as const;

/** Limits of a run that this host does not enforce: to accept one in silence would promise it. */
const notEnforced = ["recursionLimit", "maxLoopIterations", "escalationThreshold"] as const;

/**
 * `POST /runs`: checks everything that can be wrong, then one durable acceptance. `201` is sent after run,
 * idempotency record and outbox row have committed together; the broker is never touched here.
 */
export function addCreateRun(app: App, parts: ApiParts): void {
  app.post("/runs", {
    config: { scope: "runs:create" },
    schema: {
      operationId: "createRun",
      summary: "Accepts a run of a workflow",
      tags: ["runs"],
      body: CreateRunRequest,
      response: {
        201: CreateRunResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope,
        409: ErrorEnvelope, 413: ErrorEnvelope, 415: ErrorEnvelope, 422: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const key = idempotencyKeyOf(request);
    request.asked = key === undefined ? undefined : { operation, key, bodyDigest: digestOf(canonicalOf(request.body)) };
    checkMembers(request.body, principal);
    const { config, metrics } = parts;
    const workflow = await parts.workflows.current(request.body.workflowId);
    if (workflow === undefined) throw new Refusal("not_found", `no workflow "${request.body.workflowId}" is registered`);
    const input = canonicalOf(request.body.inputs === undefined ? {} : request.body.inputs);
    checkInput(input, request.body.inputs === undefined ? {} : request.body.inputs, { workflow, maxBytes: config.inputMaxBytes });
    const replay = ({ status, body }: { status: number; body: Readonly<Record<string, unknown>> }) => {
      if (status >= 400) throw toKeptRefusal(body);
      metrics.idempotentReplays.inc();
      void reply.header("openwop-idempotent-replay", "true");
      return reply.code(201).send(createdAnswer(String(body["runId"])));
    };
    const full = parts.backpressure.refuses(principal.workspace);
    if (full !== undefined) {
      // a repeat asks for nothing new: it has its answer, however many wait
      const before = request.asked === undefined ? undefined : await readIdempotency(parts.database, { workspace: principal.workspace, ...request.asked });
      if (before?.sameBody === false) throw keyMismatch();
      if (before !== undefined) return replay(before);
      metrics.acceptRefused.inc({ reason: full });
      throw new Refusal("service_unavailable", "too many accepted runs wait for a worker; try again later", { retryAfterS: 2 });
    }
    const run = toRun(request, { principal, workflow, input });
    const sent = parts.tracing?.send(request.trace, { runId: formatBoundId(principal.workspace, run.id), workflowId: run.workflowId });
    const accepted = await parts.accept(sent === undefined ? run : { ...run, traceparent: sent.traceparent });
    sent?.end({ outcome: accepted.kind });
    if (accepted.kind === "key_mismatch") throw keyMismatch();
    if (accepted.kind === "scope_active") {
      throw new Refusal("run_already_active", "a run with this scopeId is live; wait for its end", { retryAfterS: 1 });
    }
    if (accepted.kind === "replayed") return replay(accepted);
    parts.hint(config.broker === "none" ? "work" : "dispatch");
    metrics.runsAccepted.inc({ workflow: metrics.workflowLabel(workflow.workflowId) });
    if (parts.logger.writes("debug")) parts.logger.debug(logEvents.runAccepted, { runId: formatBoundId(principal.workspace, run.id), workflowId: workflow.workflowId });
    return reply.code(201).send(createdAnswer(formatBoundId(principal.workspace, run.id)));
  });
}

function checkMembers(body: CreateRunRequest, principal: Principal): void {
  if (body.tenantId !== undefined && body.tenantId !== principal.workspace) {
    throw new Refusal("id_tenant_mismatch", "tenantId: expected the key's own workspace, or nothing");
  }
  if (body.callbackUrl !== undefined) {
    throw new Refusal("validation_error", "callbackUrl: not accepted; follow eventsUrl, or register a webhook", { details: { field: "callbackUrl" } });
  }
  const limits = body.configurable?.run;
  const asked = notProvided.find((member) => body[member] !== undefined)
    ?? notEnforced.filter((limit) => limits?.[limit] !== undefined).map((limit) => `configurable.run.${limit}`)[0];
  if (asked !== undefined) {
    throw new Refusal("capability_not_provided", `${asked}: this host does not provide it; leave it out`, { details: { field: asked } });
  }
}

function toRun(
  request: FastifyRequest & { body: CreateRunRequest },
  found: { principal: Principal; workflow: CataloguedWorkflow; input: string },
): NewRun {
  const { body } = request;
  const { principal, workflow, input } = found;
  const { asked } = request;
  const id = mintRunId();
  const subject: Owner["subject"] = {
    issuer: apiKeyIssuer, subjectId: principal.keyId, tenant: principal.workspace, lane: "api-key", kind: "workload",
  };
  const dedup = request.headers["openwop-dedup"] === "enforce";
  if (dedup && body.scopeId === undefined) {
    throw new Refusal("validation_error", "scopeId: expected one with OpenWOP-Dedup: enforce", { details: { field: "scopeId" } });
  }
  const { nodes } = workflow.document;
  const first = new Set(firstNodes(nodes));
  return {
    id,
    workspace: principal.workspace,
    workflowId: workflow.workflowId,
    specHash: workflow.specHash,
    pool: workflow.pool,
    requires: workflow.requires,
    input,
    inputDigest: digestOf(input),
    subject,
    ...(body.tags === undefined ? {} : { tags: body.tags }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    ...(body.configurable === undefined ? {} : { configurable: body.configurable }),
    ...(body.scopeId === undefined ? {} : dedup ? { dedupScope: body.scopeId } : { scopeId: body.scopeId }),
    ...traceparentOf(request),
    ...deadlineOf(body.configurable?.run?.runTimeoutMs, workflow.document.settings.runTimeoutMs),
    nextNodes: nodes.filter((node) => first.has(node.id)).map(({ id: nodeId, typeId }) => ({ id: nodeId, typeId })),
    ...(asked === undefined ? {} : { idempotency: { ...asked, answer: { ...createdAnswer(formatBoundId(principal.workspace, id)) } } }),
  };
}

/** The shorter of what was asked for and what the workflow sets. The cap of every run is a lane's, and needs no column. */
function deadlineOf(...asked: (number | undefined)[]): { runTimeoutMs?: number } {
  const shortest = Math.min(maxRunDurationMs, ...asked.filter((ms) => ms !== undefined));
  return shortest < maxRunDurationMs ? { runTimeoutMs: shortest } : {};
}
