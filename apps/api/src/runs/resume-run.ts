import { ErrorEnvelope, formatBoundId, ResumeRunRequest, ResumeRunResponse } from "@mainstay/contract";
import { unpauseRun } from "@mainstay/database";
import { z } from "zod";
import { principalOf } from "../auth/principal-of.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { ownedRunId } from "./owned-run-id.js";
import { recordedAnswer } from "./recorded-answer.js";
import { refuseState } from "./refuse-state.js";

const operation = "resumeRun";

/**
 * `POST /runs/{runId}:resume`: a paused run goes back to what it was and is announced; a pause that its holder has not
 * honoured yet is taken back.
 */
export function addResumeRun(app: App, parts: ApiParts): void {
  app.post("/runs/:runId(^[^:]+)::resume", {
    config: { scope: "runs:cancel" },
    schema: {
      operationId: operation,
      summary: "Lets a paused run go on",
      tags: ["runs"],
      params: z.object({ runId: z.string() }),
      body: ResumeRunRequest.nullish(),
      response: {
        202: ResumeRunResponse, 400: ErrorEnvelope, 401: ErrorEnvelope, 403: ErrorEnvelope, 404: ErrorEnvelope,
        409: ErrorEnvelope, 413: ErrorEnvelope, 415: ErrorEnvelope, 503: ErrorEnvelope,
      },
    },
  }, async (request, reply) => {
    const principal = principalOf(request);
    const id = ownedRunId(request.params.runId, principal);
    const runId = formatBoundId(principal.workspace, id);
    const { record, replayed } = recordedAnswer(parts, { request, reply }, { operation, body: { runId, body: request.body ?? {} } });
    const before = await replayed();
    if (before !== undefined) return reply.code(202).send(before as ResumeRunResponse);
    const answer: ResumeRunResponse = { runId, status: "running" };
    const resumed = await unpauseRun(parts.database, {
      runId: id, workspace: principal.workspace, ...(record === undefined ? {} : { idempotency: { ...record, answer } }),
    });
    if (resumed.kind === "resumed" || resumed.kind === "withdrawn") {
      parts.hint(resumed.kind === "withdrawn" ? "stop" : parts.config.broker === "none" ? "work" : "dispatch");
      if (resumed.kind === "resumed") parts.hint("log");
      return reply.code(202).send({ ...answer, resumedAt: resumed.resumedAt.toISOString() });
    }
    const twin = await replayed();
    if (twin !== undefined) return reply.code(202).send(twin as ResumeRunResponse);
    throw refuseState(resumed, "paused");
  });
}
