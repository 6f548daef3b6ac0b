import { ErrorEnvelope, InstancesResponse } from "@mainstay/contract";
import { readInstances } from "@mainstay/database";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";

/** `GET /ops/v1/instances`: the fleet's processes as the database knows them. */
export function addInstances(app: App, { database }: ApiParts): void {
  app.get("/ops/v1/instances", {
    config: { scope: "ops:read" },
    schema: {
      operationId: "listInstances",
      summary: "Lists the processes of the fleet",
      tags: ["operations"],
      response: { 200: InstancesResponse, 401: ErrorEnvelope, 403: ErrorEnvelope, 503: ErrorEnvelope },
    },
  }, async () => ({
    instances: (await readInstances(database)).map(({ id, startedAt, ...row }) => ({
      instanceId: id, ...row, startedAt: startedAt.toISOString(),
    })),
  }));
}
