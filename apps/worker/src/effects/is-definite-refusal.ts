/** Machine codes of a request of which no byte left: the name or the connection failed. */
const neverSent = new Set(["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"]);

/**
 * Whether what a launch threw says for sure that nothing happened: no byte was sent, 425, 429, or a definite 4xx.
 * 408, 409 (in progress, for our own key), 5xx, time-outs and resets after sending say nothing.
 */
export function isDefiniteRefusal(thrown: unknown): boolean {
  let current: unknown = thrown;
  for (let depth = 0; depth < 8 && typeof current === "object" && current !== null; depth++) {
    const { code, status, statusCode, cause }: { code?: unknown; status?: unknown; statusCode?: unknown; cause?: unknown } = current;
    if (typeof code === "string" && neverSent.has(code)) return true;
    const answered = typeof status === "number" ? status : statusCode;
    if (typeof answered === "number" && answered >= 400 && answered < 500) return answered !== 408 && answered !== 409;
    if (cause === current) return false;
    current = cause;
  }
  return false;
}
