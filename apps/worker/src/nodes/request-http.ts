import { parseJson } from "@mainstay/domain";
import { classifyAnswer, type EgressOutcome } from "@mainstay/egress";
import { NotApplied, WorkflowFailure, type EffectCall, type EffectOptions } from "@mainstay/sdk";
import { LateLaunch } from "../effects/interrupts.js";
import { performEffect } from "../effects/perform-effect.js";
import { inProgress } from "../effects/in-progress.js";
import type { TypeCall } from "./node-parts.js";
import { retryAfterOf } from "./retry-after-of.js";

/** What `http.request` takes, once its config is resolved. */
type HttpConfig = { url: string; method: string; headers: Record<string, string>; body: string | undefined; options: EffectOptions<HttpAnswer> };
type HttpAnswer = { status: number; body: unknown };

/** `http.request`: one request through the egress guard and the ledger; the identity goes out as `Idempotency-Key`. */
export function requestHttp({ parts, run, execution, config }: TypeCall): Promise<HttpAnswer> {
  const { url, method, headers, body, options } = readConfig(config);
  return performEffect<HttpAnswer>(parts.effects, {
    run, execution, key: "request", options: { ...options, request: { url, method, headers, body: body ?? null } }, input: null,
    launch: async (call, mayLeave) => {
      const outcome = await parts.egress.request({
        url, method, timeoutMs: options.timeoutMs ?? 30_000, signal: call.signal,
        headers: { ...headers, "idempotency-key": call.idempotencyKey, ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }) },
        ...(body === undefined ? {} : { body }),
        beforeFirstByte: () => { if (!mayLeave()) throw new LateLaunch("the send grace is over"); },
      });
      if (!outcome.sent && outcome.cause instanceof LateLaunch) throw outcome.cause;
      return judge(outcome, { options, call });
    },
  });
}

function judge(outcome: EgressOutcome, { options, call }: { options: EffectOptions<HttpAnswer>; call: EffectCall }): HttpAnswer {
  const settlement = classifyAnswer(outcome);
  if (settlement === "confirmed" && outcome.sent && outcome.status !== undefined) {
    return { status: outcome.status, body: readBody(Buffer.from(outcome.body).toString("utf8")) };
  }
  const code = codeOf(outcome);
  const answered = outcome.sent && outcome.status !== undefined ? outcome : undefined;
  const failure = new WorkflowFailure(code, {
    operation: "http.request", attributes: answered === undefined ? {} : { status: answered.status }, retryAfterMs: retryAfterOf({ headers: answered?.headers }),
  });
  if (settlement === "absent") throw new NotApplied(code, { cause: failure });
  if (answered?.status === 409 && options.class === "idempotent_write") throw inProgress(call);
  throw failure;
}

function codeOf(outcome: EgressOutcome): string {
  if (!outcome.sent) return outcome.reason === "egress_denied" ? "platform.egress_denied" : "platform.dependency_unavailable";
  if (outcome.status === undefined) return outcome.reason === "timeout" ? "platform.timeout" : "platform.dependency_unavailable";
  switch (outcome.status) {
    case 401: return "platform.credential_invalid";
    case 403: return "platform.authorization_denied";
    case 408: case 504: return "platform.timeout";
    case 429: return "platform.rate_limited";
    case 425: case 500: case 502: return "platform.dependency_unavailable";
    case 503: return "platform.provider_overloaded";
    default: return outcome.status >= 500 ? "platform.dependency_unavailable" : "platform.business_terminal";
  }
}

/** JSON, as far as it can be recorded exactly; what cannot (a number that a double rounds, a member twice) stays the text it is. */
function readBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

const invalid = (field: string, rule: string) => new WorkflowFailure("platform.schema_invalid", { attributes: { field, rule } });

function readConfig(config: Record<string, unknown>): HttpConfig {
  const { url, method = "POST", headers = {}, body, businessKey, timeoutMs = 30_000, keyRetentionMs, propagateTrace = false } = config;
  const effectClass = config["class"] ?? "non_idempotent_write";
  if (typeof url !== "string" || !URL.canParse(url)) throw invalid("url", "an absolute URL");
  if (typeof method !== "string" || !/^[A-Z]{3,10}$/.test(method)) throw invalid("method", "an HTTP method in capitals");
  if (typeof headers !== "object" || headers === null || Object.values(headers).some((value) => typeof value !== "string")) throw invalid("headers", "an object of strings");
  if (typeof timeoutMs !== "number" || !Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 3_600_000) throw invalid("timeoutMs", "a whole number from 1 to 3600000");
  if (effectClass !== "read_only" && effectClass !== "idempotent_write" && effectClass !== "non_idempotent_write") throw invalid("class", "read_only, idempotent_write or non_idempotent_write");
  if (businessKey !== undefined && typeof businessKey !== "string") throw invalid("businessKey", "a string");
  if (keyRetentionMs !== undefined && (typeof keyRetentionMs !== "number" || keyRetentionMs < 1)) throw invalid("keyRetentionMs", "milliseconds, at least 1");
  if (typeof propagateTrace !== "boolean") throw invalid("propagateTrace", "true or false");
  const sends = body !== undefined && method !== "GET" && method !== "HEAD";
  const text = !sends ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return {
    url, method, body: text,
    headers: { ...(text !== undefined && typeof body !== "string" ? { "content-type": "application/json" } : {}), ...(headers as Record<string, string>) },
    options: {
      class: effectClass, destination: new URL(url).host, timeoutMs, propagateTrace,
      ...(businessKey === undefined ? {} : { businessKey }), ...(keyRetentionMs === undefined ? {} : { keyRetentionMs }),
    },
  };
}
