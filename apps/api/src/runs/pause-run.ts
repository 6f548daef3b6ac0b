import { PauseRunRequest, PauseRunResponse } from "@mainstay/contract";
import { requestPause } from "@mainstay/database";
import { z } from "zod";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";
import { askedMove, moveRefusals } from "./asked-move.js";
import { refuseState } from "./refuse-state.js";

const operation = "pauseRun";

/**
 * `POST /runs/{runId}:pause`: asks for the pause, never the holder's status. A run that nobody holds is paused in the
 * same statement; a held one with its holder's next checkpoint, at once when it is to be immediate. Its scope is that of
 * cancel: the protocol names no other for stopping a run.
 */
export function addPauseRun(app: App, parts: ApiParts): void {
  app.post("/runs/:runId(^[^:]+)::pause", {
    config: { scope: "runs:cancel" },
    schema: {
      operationId: operation,
      summary: "Pauses a run",
      tags: ["runs"],
      params: z.object({ runId: z.string() }),
      body: PauseRunRequest.nullish(),
      response: { 202: PauseRunResponse, ...moveRefusals },
    },
  }, async (request, reply) => {
    const { id, runId, workspace, by, record, replayed } = askedMove(parts, { request, reply }, operation);
    const before = await replayed();
    if (before !== undefined) return reply.code(202).send(before as PauseRunResponse);
    const { reason, drainPolicy = "drain-current-node" } = request.body ?? {};
    const answer: PauseRunResponse = { runId, status: "paused" };
    const paused = await requestPause(parts.database, {
      runId: id, workspace, by, drain: drainPolicy,
      ...(reason === undefined ? {} : { reason }), ...(record === undefined ? {} : { idempotency: { ...record, answer } }),
    });
    if (paused.kind === "asked" || paused.kind === "paused") {
      parts.hint(paused.kind === "asked" ? "stop" : "log");
      return reply.code(202).send({ ...answer, ...(paused.kind === "paused" ? { pausedAt: paused.pausedAt.toISOString() } : {}) });
    }
    // A twin of this request may have paused the run between the two reads: then its answer is this one's too.
    const twin = await replayed();
    if (twin !== undefined) return reply.code(202).send(twin as PauseRunResponse);
    throw refuseState(paused, "a run that goes on");
  });
}
