/** One request to the outside. */
export type EgressRequest = Readonly<{
  url: string;
  /** Default `GET`. `CONNECT` and `TRACE` are denied. */
  method?: string;
  /** `host`, `connection` and the framing headers are the transport's own and are denied; the answer is asked for unencoded. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** From the call to the last byte of the answer, in milliseconds. When it is over the socket is destroyed. */
  timeoutMs: number;
  /** Aborting destroys the socket. */
  signal?: AbortSignal;
  /**
   * Runs when the connection stands and the request is about to be written,
   * synchronously; throwing keeps every byte of it here.
   */
  beforeFirstByte?: () => void;
}>;

/** Headers that belong to the transport: a caller that sets them could split or misroute the request. */
const transportHeaders: ReadonlySet<string> = new Set([
  "host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "te", "trailer", "expect", "proxy-connection", "proxy-authorization",
]);

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What is wrong with a request before anything is resolved, or `undefined`. */
export function refuseRequest({ url, method = "GET", headers = {}, timeoutMs }: EgressRequest): string | undefined {
  if (!URL.canParse(url)) return "expected an absolute URL";
  if (!token.test(method) || method === "CONNECT" || method === "TRACE") return "expected an ordinary HTTP method";
  for (const [name, value] of Object.entries(headers)) {
    if (!token.test(name) || !fieldValue.test(value)) return "expected header names and values without control characters";
    if (transportHeaders.has(name.toLowerCase())) return `the header ${name.toLowerCase()} is set by the transport`;
  }
  return Number.isFinite(timeoutMs) && timeoutMs > 0 ? undefined : "expected a time-out above 0 ms";
}
