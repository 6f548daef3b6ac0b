import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { z } from "zod";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { App } from "./app.js";
import { tidyDocument } from "./tidy-document.js";

/** Where the page with the API's description is served, with its own files; open. */
export const docsPath = "/docs";

/** `GET /openapi.json` and a page at `/docs`: OpenAPI 3.1, printed from the schemas that validate. */
export async function addOpenApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Mainstay", version, description: "Runs of workflows that end, whatever dies on the way." },
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer", bearerFormat: "mst_<keyId>_<secret>" } } },
      security: [{ apiKey: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (input) => tidyDocument(jsonSchemaTransformObject(input)),
  });
  app.get("/openapi.json", {
    config: { scope: "open" },
    schema: {
      operationId: "getOpenApi", summary: "This document", tags: ["discovery"], security: [], response: { 200: z.looseObject({}) },
    },
  }, () => app.swagger() as unknown as Record<string, unknown>);
  await app.register(swaggerUi, { routePrefix: docsPath });
}
