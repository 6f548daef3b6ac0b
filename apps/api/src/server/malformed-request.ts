import { errorStatus, preferredVersion, type ErrorCode } from "@mainstay/contract";

/** What Node says of bytes that never became a request, and what we answer. */
const causes: Readonly<Record<string, { code: ErrorCode; reason: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: "mainstay.headers_too_large", reason: "Request Header Fields Too Large", message: "the headers are larger than 16 KiB; send fewer or shorter ones",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: "mainstay.request_timeout", reason: "Request Timeout", message: "the request did not arrive within its time; send it again, without a pause",
  },
};

const malformed = { code: "validation_error", reason: "Bad Request", message: "expected an HTTP/1.1 request" } as const;

/** The answer to bytes that are no HTTP request: there is no request to route, so it is written by hand. */
export function malformedRequest(cause: string | undefined): string {
  const { code, reason, message } = causes[cause ?? ""] ?? malformed;
  const body = JSON.stringify({ error: code, message });
  return [
    `HTTP/1.1 ${String(errorStatus[code])} ${reason}`, `OpenWOP-Version: ${preferredVersion}`, "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${String(Buffer.byteLength(body))}`, "Connection: close", "", body,
  ].join("\r\n");
}
