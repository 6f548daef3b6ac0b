import { attemptBound, recoveryBounds } from "@mainstay/config";
import { BoundsResponse, ErrorEnvelope } from "@mainstay/contract";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";

/** `GET /ops/v1/bounds`: how late a run may be resumed and how often a poison node may begin, with their terms. */
export function addBounds(app: App, { config }: ApiParts): void {
  app.get("/ops/v1/bounds", {
    config: { scope: "ops:read" },
    schema: {
      operationId: "getBounds",
      summary: "Reads recovery and attempt bounds with their terms",
      tags: ["operations"],
      response: { 200: BoundsResponse, 401: ErrorEnvelope, 403: ErrorEnvelope },
    },
  }, () => {
    const attempts = attemptBound(config);
    return {
      recovery: recoveryBounds(config).map((one) => ({ ...one, terms: [...one.terms] })),
      attempts: { bound: attempts.bound, terms: [...attempts.terms] },
    };
  });
}
