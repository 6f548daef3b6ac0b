import {
  projectId,
  type CreateRunResponse,
  type EffectList,
  type ForkRunResponse,
  type BulkCancelResponse,
  type CancelRunResponse,
  type ListRunsResponse,
  type PauseRunResponse,
  type PollEventsResponse,
  type ResumeRunResponse,
  type RunSnapshot,
} from "@mainstay/contract";
import { awaitResult } from "./await-result.js";
import type { RunsClient } from "./runs-client.js";
import { streamEvents } from "./stream-events.js";
import type { Transport } from "./transport.js";

/** Makes the runs part of a client. */
export function createRunsClient(transport: Transport): RunsClient {
  const pathOf = (runId: string): string => `/runs/${projectId(runId)}`;

  const runs: RunsClient = {
    async create(workflowId, inputs, options = {}) {
      const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
      const { body, headers } = await transport.send({
        method: "POST",
        path: "/runs",
        headers: { "idempotency-key": idempotencyKey },
        signal: options.signal,
        body: {
          workflowId,
          inputs,
          tags: options.tags,
          metadata: options.metadata,
          configurable: options.configurable,
        },
      });
      const replayed = headers.get("openwop-idempotent-replay") === "true";
      return { ...(body as CreateRunResponse), idempotencyKey, replayed };
    },
    async get(runId) {
      return (await transport.send({ method: "GET", path: pathOf(runId) })).body as RunSnapshot;
    },
    async list(query = {}) {
      return (await transport.send({ method: "GET", path: "/runs", query })).body as ListRunsResponse;
    },
    async cancel(runId, options = {}) {
      const { body } = await transport.send({
        method: "POST",
        path: `${pathOf(runId)}/cancel`,
        headers: { "idempotency-key": options.idempotencyKey ?? crypto.randomUUID() },
        body: options.reason === undefined ? {} : { reason: options.reason },
      });
      return body as CancelRunResponse;
    },
    async cancelMany(runIds, { idempotencyKey = crypto.randomUUID(), reason } = {}) {
      const { body } = await transport.send({
        method: "POST", path: "/runs:bulk-cancel", headers: { "idempotency-key": idempotencyKey },
        body: { runIds: [...runIds], ...(reason === undefined ? {} : { reason }) },
      });
      return body as BulkCancelResponse;
    },
    async pause(runId, { idempotencyKey = crypto.randomUUID(), ...body } = {}) {
      const { body: answer } = await transport.send({
        method: "POST", path: `${pathOf(runId)}:pause`, headers: { "idempotency-key": idempotencyKey }, body,
      });
      return answer as PauseRunResponse;
    },
    async resume(runId, { idempotencyKey = crypto.randomUUID() } = {}) {
      const { body } = await transport.send({
        method: "POST", path: `${pathOf(runId)}:resume`, headers: { "idempotency-key": idempotencyKey }, body: {},
      });
      return body as ResumeRunResponse;
    },
    async fork(runId, fork, { idempotencyKey = crypto.randomUUID() } = {}) {
      const { body } = await transport.send({
        method: "POST", path: `${pathOf(runId)}:fork`, headers: { "idempotency-key": idempotencyKey }, body: fork,
      });
      return body as ForkRunResponse;
    },
    async effects(runId) {
      return (await transport.send({ method: "GET", path: `${pathOf(runId)}/effects` })).body as EffectList;
    },
    async poll(runId, options = {}) {
      const timeout = options.timeoutS ?? 30;
      const { body } = await transport.send({
        method: "GET",
        path: `${pathOf(runId)}/events/poll`,
        query: { afterSequence: options.afterSequence, timeout },
        signal: options.signal,
        timeoutMs: (timeout + 15) * 1_000,
      });
      return body as PollEventsResponse;
    },
    events: (runId, options = {}) => streamEvents(transport, runs, { ...options, runId }),
    result: (runId, options = {}) => awaitResult(runs, runId, options),
  };
  return runs;
}
