import type { FastifyReply } from "fastify";

/** A signal that aborts when the client has gone or the process begins to stop, whichever comes first. */
export function hangUp(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => { gone.abort(); });
  return AbortSignal.any([gone.signal, stopping]);
}
