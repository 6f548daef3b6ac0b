import type { FastifyReply } from "fastify";

/**
 * A signal that aborts when the client has gone or the process begins to stop, whichever comes first. Made by hand:
 * `AbortSignal.any` holds its signals weakly, and on Node 20 one that nobody listens to for a moment is lost.
 */
export function hangUp(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const ended = new AbortController();
  const end = (): void => {
    stopping.removeEventListener("abort", end);
    ended.abort();
  };
  reply.raw.once("close", end);
  if (stopping.aborted) end();
  else stopping.addEventListener("abort", end, { once: true });
  return ended.signal;
}
