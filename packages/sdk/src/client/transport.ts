import { ErrorEnvelope, preferredVersion } from "@mainstay/contract";
import { ClientError, Unreachable } from "./client-error.js";
import { limitTry } from "./limit-try.js";
import { orAborted } from "./or-aborted.js";
import { pause } from "./pause.js";
import { readChunks } from "./read-chunks.js";

/** Where and as whom a client speaks. */
export type ClientOptions = Readonly<{
  /** The api's address, such as `http://127.0.0.1:8080`. */
  url: string;
  /** `mst_<keyId>_<secret>`. Sent in the `Authorization` header and nowhere else. */
  key: string;
  /** Milliseconds, from the first failure on, to go on retrying lost connections, 429 and 503; default 30,000, 0 tries once. */
  retryForMs?: number;
  /** Used instead of the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
}>;

/** One request of the client. */
export type ClientRequest = Readonly<{
  method: "GET" | "POST";
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Milliseconds until one try is given up; default 30,000. */
  timeoutMs?: number;
}>;

/** Sends requests with the key and the protocol version, and retries those that are safe to repeat. */
export type Transport = Readonly<{
  /** @throws ClientError for an error answer, Unreachable when no answer came. The body is parsed JSON. */
  send: (request: ClientRequest) => Promise<{ status: number; headers: Headers; body: unknown }>;
  /** Opens a streaming answer; nothing is retried. @throws ClientError, or what `fetch` throws. */
  open: (request: ClientRequest) => Promise<Response>;
}>;

/** Back-off between tries, in milliseconds, before jitter. */
const backoffMs = [100, 250, 500, 1_000, 2_000, 4_000];

/** Makes the transport of one client. Every POST must carry an `Idempotency-Key`, so that a retry is a repeat. */
export function createTransport(options: ClientOptions): Transport {
  const root = options.url.replace(/\/+$/, "");
  const fetch = options.fetch ?? globalThis.fetch;
  const retryForMs = options.retryForMs ?? 30_000;

  function call(request: ClientRequest, signal: AbortSignal | undefined): Promise<Response> {
    const url = new URL(root + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return fetch(url, {
      method: request.method,
      redirect: "error",
      headers: {
        authorization: `Bearer ${options.key}`,
        "openwop-version": preferredVersion,
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async function send(request: ClientRequest): Promise<{ status: number; headers: Headers; body: unknown }> {
    /** Counted from the first failure: an answer that was long in coming is tried again like any other. */
    let giveUpAt: number | undefined;
    for (let tries = 0; ; tries += 1) {
      const limit = limitTry(request.timeoutMs ?? 30_000, request.signal);
      let failed: Error;
      let waitMs = (backoffMs[tries] ?? 4_000) * (0.5 + Math.random());
      try {
        const response = await orAborted(call(request, limit.signal), limit.signal);
        const body = await readJson(response, limit.signal);
        if (response.ok || response.status === 304) return { status: response.status, headers: response.headers, body };
        failed = toError(response, body);
        if (response.status !== 429 && response.status !== 503) throw failed;
        const retryAfter = Number(response.headers.get("retry-after"));
        if (Number.isFinite(retryAfter) && retryAfter > 0) waitMs = retryAfter * 1_000;
      } catch (thrown) {
        if (thrown instanceof ClientError && thrown.status !== 429 && thrown.status !== 503) throw thrown;
        if (request.signal?.aborted === true) throw thrown;
        failed = thrown instanceof ClientError ? thrown : new Unreachable(root, thrown);
      } finally {
        limit.release();
      }
      giveUpAt ??= performance.now() + retryForMs;
      if (performance.now() + waitMs > giveUpAt) throw failed;
      await pause(waitMs, request.signal);
    }
  }

  async function open(request: ClientRequest): Promise<Response> {
    const response = await orAborted(call(request, request.signal), request.signal);
    if (response.ok) return response;
    throw toError(response, await readJson(response, request.signal));
  }

  return { send, open };
}

async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of readChunks(response, signal)) text += decoder.decode(chunk, { stream: true });
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toError(response: Response, body: unknown): ClientError {
  const envelope = ErrorEnvelope.safeParse(body);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (envelope.success) {
    const { error, message, details } = envelope.data;
    return new ClientError(message, { code: error, status: response.status, details, requestId });
  }
  const text = `expected an error envelope, seen status ${String(response.status)}; is this the address of the api?`;
  return new ClientError(text, { code: "internal_error", status: response.status, requestId });
}
