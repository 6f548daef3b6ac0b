import { ResumeRunRequest, ResumeRunResponse } from "@mainstay/contract";
import { unpauseRun } from "@mainstay/database";
import { z } from "zod";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { askedMove, moveRefusals } from "./asked-move.js";
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
      response: { 202: ResumeRunResponse, ...moveRefusals },
    },
  }, async (request, reply) => {
    const { id, runId, workspace, record, replayed } = askedMove(parts, { request, reply }, operation);
    const before = await replayed();
    if (before !== undefined) return reply.code(202).send(before as ResumeRunResponse);
    const answer: ResumeRunResponse = { runId, status: "running" };
    const resumed = await unpauseRun(parts.database, {
      runId: id, workspace, ...(record === undefined ? {} : { idempotency: { ...record, answer } }),
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
