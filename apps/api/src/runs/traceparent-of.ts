import type { FastifyRequest } from "fastify";

/** The W3C trace context that a request came with, if it is one. */
export function traceparentOf({ headers: { traceparent } }: FastifyRequest): { traceparent?: string } {
  return typeof traceparent === "string" && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent) ? { traceparent } : {};
}
