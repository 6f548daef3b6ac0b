import { parseBoundId, unprojectId } from "@mainstay/contract";
import type { Principal } from "../auth/principal.js";
import { Refusal } from "../server/refusal.js";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The uuid of the run that a URL segment names (tilde or percent projection).
 *
 * @throws Refusal `validation_error` for a bare or malformed id, `id_tenant_mismatch` for another workspace's, before
 * anybody asks whether it exists; `not_found` for an id that we never mint.
 */
export function ownedRunId(segment: string, principal: Principal): string {
  const plain = unprojectId(segment);
  const parts = plain === undefined ? undefined : parseBoundId(plain);
  if (parts === undefined) {
    throw new Refusal("validation_error", "runId: expected a bound id <workspace>/<opaque> as one segment, such as acme~2F0190…", {
      details: { field: "runId" },
    });
  }
  if (parts.workspace !== principal.workspace) {
    throw new Refusal("id_tenant_mismatch", "the run belongs to another workspace than the key");
  }
  if (!uuid.test(parts.opaque)) throw unknownRun();
  return parts.opaque;
}

/** The refusal of a run that the workspace does not have. */
export function unknownRun(): Refusal {
  return new Refusal("not_found", "no such run in this workspace");
}
