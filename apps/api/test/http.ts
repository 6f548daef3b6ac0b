import { ErrorEnvelope } from "@mainstay/contract";
import { expect } from "vitest";

/** One answer, its body parsed. */
export type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

/** One request to a test api. A string body is sent as it is, anything else as JSON. */
export async function ask(
  url: string,
  request: { method?: string; key?: string; headers?: Record<string, string>; body?: unknown; signal?: AbortSignal } = {},
): Promise<Answer> {
  const body = request.body === undefined || typeof request.body === "string" ? request.body : JSON.stringify(request.body);
  const response = await fetch(url, {
    method: request.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(request.key === undefined ? {} : { authorization: `Bearer ${request.key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

/** Expects a refusal: its status, its code, and the closed envelope with our version. */
export function expectRefusal(answer: Answer, status: number, code: string): Record<string, unknown> {
  expect({ status: answer.status, code: answer.body["error"] }).toEqual({ status, code });
  ErrorEnvelope.parse(answer.body);
  expect(answer.headers.get("openwop-version")).toBe("2.0");
  expect(answer.text).not.toContain("retryAfter");
  return (answer.body["details"] ?? {}) as Record<string, unknown>;
}
