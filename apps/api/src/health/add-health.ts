import { z } from "zod";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";

const Probe = z.strictObject({ status: z.enum(["ok", "unavailable"]) }).meta({ id: "Probe" });

/** `/health/{live,ready,startup}` and `/metrics`: open, for the platform that runs this process. */
export function addHealth(app: App, { health, metrics }: ApiParts): void {
  const probes = { live: health.live, ready: health.ready, startup: health.started } as const;
  for (const [name, holds] of Object.entries(probes)) {
    app.get(`/health/${name}`, {
      config: { scope: "open" },
      schema: {
        operationId: `health${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        summary: `Probe: ${name}`,
        tags: ["health"],
        security: [],
        response: { 200: Probe, 503: Probe },
      },
    }, async (_request, reply) => {
      if (holds()) return { status: "ok" as const };
      return reply.code(503).header("retry-after", "1").send({ status: "unavailable" });
    });
  }
  app.get("/metrics", {
    config: { scope: "open" },
    schema: {
      operationId: "metrics", summary: "Metrics of this process", tags: ["health"], security: [], response: { 200: z.string() },
    },
  }, async (_request, reply) =>
    reply.header("content-type", metrics.contentType).serializer((text: string) => text).send(await metrics.text()));
}
