import { randomUUID } from "node:crypto";
import type { EffectLaunch } from "@mainstay/database";
import { digestOf, sha256 } from "./digest.js";
import type { EffectRequest } from "./effect-parts.js";
import { effectTimes } from "./effect-times.js";

const DEFAULT_RETENTION_MS = 24 * 3600 * 1000;

/** The launch of an effect as the ledger knows it: its identity, the digest of its request, its quiet time. */
export function declareEffect<Result>({ run, execution, key, options, input }: EffectRequest<Result>, sendGraceMs: number): Omit<EffectLaunch, "launchId"> {
  const { claimed } = run;
  const effectClass = options.class ?? "non_idempotent_write";
  const identity = options.businessKey === undefined
    ? sha256(JSON.stringify(["activity", claimed.workspace, claimed.lineage, execution.nodeId, key]))
    : sha256(JSON.stringify(["business", claimed.workspace, claimed.workflowId, execution.nodeId, options.businessKey]));
  const { request, reconcile: _reconcile, propagateTrace: _propagateTrace, ...facts } = options;
  return {
    effectId: randomUUID(), runId: run.id, workspace: claimed.workspace, owner: run.owner, fence: run.fence, identity,
    keying: options.businessKey === undefined ? "activity-recipe" : "business-identity", nodeId: execution.nodeId, key,
    class: effectClass, destination: options.destination, requestDigest: digestOf(request ?? { options: facts, input }),
    attempt: execution.attempt, quietMs: effectTimes(options, sendGraceMs).quietMs,
    ...(options.businessKey === undefined ? {} : { businessKey: options.businessKey }),
    ...(effectClass === "idempotent_write" ? { keyRetentionMs: options.keyRetentionMs ?? DEFAULT_RETENTION_MS } : {}),
  };
}
