import { createHash } from "node:crypto";
import {
  apiKeyIssuer, Discovery, engineVersion, ErrorEnvelope, eventLogSchemaVersion, maxNodeExecutions, maxRunDurationMs,
  preferredVersion, protocolVersions, runListMaxPageSize,
} from "@mainstay/contract";
import { z } from "zod";
import { isNotModified } from "../pages/entity-tag.js";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";

/** Every experimental family says so in the same words. */
const experimental = { status: "experimental", since: "2.0", until: "2.1" } as const;

/** `GET /.well-known/openwop`: what this host serves, from live settings. Absent means not served. */
export function addDiscovery(app: App, parts: ApiParts): void {
  app.get("/.well-known/openwop", {
    config: { scope: "open" },
    schema: {
      operationId: "discover",
      summary: "Says what this host serves",
      tags: ["discovery"],
      security: [],
      response: { 200: Discovery, 304: z.undefined(), 406: ErrorEnvelope, 503: ErrorEnvelope },
    },
  }, async (request, reply) => {
    const document = describe(parts, await parts.workflows.fixtures());
    const text = JSON.stringify(document);
    const tag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
    void reply.header("etag", tag).header("cache-control", "no-cache");
    if (isNotModified(request.headers["if-none-match"], tag)) return reply.code(304).send();
    return document;
  });
}

function describe({ config }: ApiParts, fixtures: readonly string[]): Discovery {
  return {
    protocolVersions: [...protocolVersions],
    preferredVersion,
    minClientVersion: "2.0",
    implementation: { name: "mainstay", version: config.version, vendor: "mainstay" },
    engineVersion,
    eventLogSchemaVersion,
    fixtures: [...fixtures],
    limits: {
      status: "stable", since: "2.0", witness: "witnessable-gated",
      clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0, maxNodeExecutions, maxRunDurationMs,
    },
    eventLog: { ...experimental, witness: "claims-check", crossEngineOrdering: { orderingModel: "global-sequencer" } },
    idempotency: { ...experimental, witness: "witnessable-gated", crossRegion: "single-region" },
    replay: {
      ...experimental, witness: "witnessable-gated", modes: ["replay", "branch"], retention: { days: config.retentionDays },
      effectSeamsManifest: "/host/effect-seams",
    },
    deadLetter: { ...experimental, witness: "witnessable-gated", retentionDays: config.retentionDays },
    runList: { ...experimental, witness: "witnessable-gated", maxPageSize: runListMaxPageSize, filters: ["workflowId", "status"] },
    auth: {
      ...experimental, witness: "seam-gated",
      lanes: [{ lane: "api-key", issuers: [apiKeyIssuer], revocation: "next-request", minimumAssurance: "bearer" }],
    },
  };
}
