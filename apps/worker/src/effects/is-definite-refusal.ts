/** Machine codes of a request of which no byte left: the name or the connection failed. */
const neverSent = new Set(["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"]);

/** What a launch threw says of its effect: a machine code of a request that never left, or the status it was answered with. */
type Said = { neverSent: true } | { status: number };

/** Causes are followed this deep and no deeper. */
const MOST_CAUSES = 8;

function read(thrown: unknown): Said | undefined {
  let current: unknown = thrown;
  for (let depth = 0; depth < MOST_CAUSES && typeof current === "object" && current !== null; depth++) {
    const { code, status, statusCode, response, cause }: { code?: unknown; status?: unknown; statusCode?: unknown; response?: unknown; cause?: unknown } = current;
    if (typeof code === "string" && neverSent.has(code)) return { neverSent: true };
    const answered = [status, statusCode, (response as { status?: unknown } | null | undefined)?.status].find((one) => typeof one === "number");
    if (typeof answered === "number" && answered >= 400 && answered < 500) return { status: answered };
    current = cause;
  }
  return undefined;
}

/**
 * Whether what a launch threw says for sure that nothing happened: no byte was sent, 425, 429, or a definite 4xx.
 * 408, 409 (in progress, for our own key), 5xx, time-outs and resets after sending say nothing.
 */
export function isDefiniteRefusal(thrown: unknown): boolean {
  const said = read(thrown);
  return said !== undefined && ("neverSent" in said || (said.status !== 408 && said.status !== 409));
}

/** Whether it was answered with 409: the other side is at it, under our own key. */
export function saysInProgress(thrown: unknown): boolean {
  const said = read(thrown);
  return said !== undefined && "status" in said && said.status === 409;
}
