type Json = Record<string, unknown>;

type Operation = { operationId?: string; parameters?: Json[]; responses?: Record<string, Json>; security?: unknown[] };

const text = { type: "string" } as const;
const header = (name: string, description: string, schema: Json = text): Json => ({ in: "header", name, required: false, description, schema });

const version = header("OpenWOP-Version", "The protocol's major or version, 2 or 2.0; another one is refused with 406.");
const idempotencyKey = header("Idempotency-Key", "The same key and body get the same answer for 24 hours at least; another body is 409.", {
  type: "string", pattern: "^[A-Za-z0-9._~-]{22,128}$",
});

/** Headers that one operation alone reads. */
const own: Readonly<Record<string, readonly Json[]>> = {
  createRun: [
    header("OpenWOP-Dedup", "`enforce`: at most one live run of the body's scopeId.", { type: "string", enum: ["enforce"] }),
    header("traceparent", "W3C trace context, kept with the run."),
  ],
  discover: [header("If-None-Match", "An ETag: unchanged is 304.")],
  getRun: [header("If-None-Match", "An ETag: unchanged is 304.")],
  streamEvents: [header("Last-Event-ID", "The sequence after which the stream begins.", { type: "string", pattern: "^\\d{1,9}$" })],
};

/** Refusals that any request may meet before its own route looks at it. */
const everywhere: Readonly<Record<number, string>> = {
  400: "The request is malformed", 403: "OpenWOP-Force-Engine-Version is not served, or the key lacks the scope",
  406: "The OpenWOP-Version is not served", 426: "The OpenWOP-Client-Version is too old", 503: "Not now: see Retry-After",
};

const refusal = (description: string): Json => ({
  description, content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorEnvelope" } } },
});

const answered = (description: string, schema: Json = text): Json => ({ description, schema });

/** Completes one operation with the headers it reads and answers, and with the refusals that every request may meet. */
export function describeAnswers(operation: Operation, method: string): void {
  const posts = method === "post";
  operation.parameters = [...(operation.parameters ?? []), ...(posts ? [idempotencyKey] : []), ...(own[operation.operationId ?? ""] ?? []), version];
  const responses = (operation.responses ??= {});
  for (const [status, description] of Object.entries(everywhere)) responses[status] ??= refusal(description);
  for (const [status, response] of Object.entries(responses)) response["headers"] = headersOf(Number(status), { operation, posts });
}

function headersOf(status: number, { operation, posts }: { operation: Operation; posts: boolean }): Json {
  const tagged = own[operation.operationId ?? ""]?.some(({ name }) => name === "If-None-Match") === true && (status === 200 || status === 304);
  return {
    "OpenWOP-Version": answered("2.0, on every answer"),
    ...(tagged ? { ETag: answered("Changes with the document; strong") } : {}),
    ...(posts && status < 500 && status !== 400 ? { "OpenWOP-Idempotent-Replay": answered("`true` when the answer was given before under this key") } : {}),
    ...(status === 401 || status === 403 ? { "WWW-Authenticate": answered("Bearer") } : {}),
    ...(status === 429 || status === 503 ? { "Retry-After": answered("Seconds", { type: "integer" }) } : {}),
  };
}
