import type { Socket } from "node:net";
import { Client } from "undici";
import type { EgressRequest } from "./egress-request.js";
import type { AnswerHeaders, EgressOutcome } from "./outcome.js";

/** Why a request was ended by this side. */
export type Ending = "timeout" | "aborted";

/** A connected socket, and what bounds the exchange over it. */
export type Exchange = Readonly<{
  socket: Socket;
  url: URL;
  /** Aborted with an `Ending` as its reason. */
  signal: AbortSignal;
  bodyMaxBytes: number;
}>;

function plainHeaders(headers: Record<string, string | string[] | undefined>): AnswerHeaders {
  const plain: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) plain[name] = value;
  return Object.freeze(plain);
}

/**
 * Writes one request over a socket that stands and reads its answer. One
 * launch, one request: no redirect is followed, nothing is sent twice, the
 * socket serves nothing else and is destroyed at the end.
 */
export async function sendRequest(
  { method = "GET", headers = {}, body, beforeFirstByte }: EgressRequest,
  { socket, url, signal, bodyMaxBytes }: Exchange,
): Promise<EgressOutcome> {
  const state: { handedOver: boolean; refusal?: { cause: unknown } } = { handedOver: false };
  const client = new Client(url.origin, {
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    // Undici expects its connector to answer later; the request is written inside the callback.
    connect: (_, callback) => { queueMicrotask(() => {
      try {
        if (state.handedOver) throw new Error("one request has one connection");
        if (socket.destroyed) throw new Error("the connection was closed before the request was written");
        signal.throwIfAborted();
        try {
          beforeFirstByte?.();
        } catch (error) {
          state.refusal = { cause: error };
          throw error;
        }
        state.handedOver = true;
        callback(null, socket);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)), null);
      }
    }); },
  });
  const unanswered = (reason: "timeout" | "reset" | "aborted" | "too_large", detail: string): EgressOutcome =>
    ({ sent: true, status: undefined, reason, detail });
  const endedBy = (): Ending | undefined => (signal.aborted ? (signal.reason as Ending) : undefined);

  try {
    const answer = await client.request({
      path: `${url.pathname}${url.search}`,
      method,
      headers: { ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])), "accept-encoding": "identity" },
      body: body ?? null,
      signal,
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > bodyMaxBytes) return unanswered("too_large", `status ${answer.statusCode} with a body above ${bodyMaxBytes} bytes`);
      chunks.push(chunk);
    }
    return { sent: true, status: answer.statusCode, headers: plainHeaders(answer.headers), body: new Uint8Array(Buffer.concat(chunks, size)) };
  } catch (error) {
    if (state.refusal !== undefined) return { sent: false, reason: "aborted_before_send", detail: "the sender decided not to send", cause: state.refusal.cause };
    const ended = endedBy();
    if (!state.handedOver) {
      return ended === undefined
        ? { sent: false, reason: "connect", detail: error instanceof Error ? error.message : String(error) }
        : { sent: false, reason: "aborted_before_send", detail: ended === "timeout" ? "the time was over before the request was written" : "aborted before the request was written" };
    }
    if (ended !== undefined) return unanswered(ended, ended === "timeout" ? "no whole answer in time" : "aborted after the request may have left");
    return unanswered("reset", error instanceof Error && "code" in error ? String(error.code) : "the connection broke");
  } finally {
    socket.destroy();
    client.destroy().catch(() => undefined);
  }
}
