import { parseRange, type Range } from "./address/judge-address.js";
import { resolveBySystem, resolveTarget, type Resolve, type Target } from "./address/resolve-target.js";
import { connectSocket, type Connected } from "./request/connect-socket.js";
import { refuseRequest, type EgressRequest } from "./request/egress-request.js";
import type { EgressOutcome, NotSent } from "./request/outcome.js";
import { sendRequest, type Ending } from "./request/send-request.js";

/** What the guard lets through. */
export type EgressOptions = Readonly<{
  /** CIDR ranges, or single addresses, that are not public and may be reached; into them plain http and any port too. */
  allow: readonly string[];
  /** Largest body of an answer; default 1 MiB. */
  bodyMaxBytes?: number;
  /** Certificates trusted instead of the system's, PEM. */
  ca?: string;
  /** Name resolution instead of the system's. */
  resolve?: Resolve;
}>;

/** The one way out of a process. */
export type Egress = Readonly<{
  /**
   * Sends one request and tells precisely what became of it, above all whether
   * any byte of it left. Never rejects.
   */
  request(request: EgressRequest): Promise<EgressOutcome>;
}>;

/** An address that does not answer gives way to the next of its host after this long. */
const perAddressMs = 3_000;

function notSent(reason: NotSent["reason"], detail: string): NotSent {
  return { sent: false, reason, detail };
}

async function connectAny(
  target: Extract<Target, { ok: true }>, { ca, signal, timeoutMs }: { ca: string | undefined; signal: AbortSignal; timeoutMs: number },
): Promise<Connected> {
  let last: Connected = { ok: false, reason: "connect", detail: "no address" };
  for (const [at, address] of target.addresses.entries()) {
    const withinMs = at === target.addresses.length - 1 ? timeoutMs : Math.min(perAddressMs, timeoutMs);
    last = await connectSocket({ ...target, address, ca, signal, withinMs });
    if (last.ok || last.reason === "tls" || signal.aborted) return last;
  }
  return last;
}

/** Resolves as `ended` when the signal aborts first. */
async function orEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T | "ended"> {
  let stop = (): void => undefined;
  const ended = new Promise<"ended">((resolve) => {
    stop = () => { resolve("ended"); };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * The guarded way out: resolve, check every address, connect to the checked
 * address, follow no redirect. Throws when a range of `allow` is none.
 */
export function createEgress({ allow, bodyMaxBytes = 1_048_576, ca, resolve = resolveBySystem }: EgressOptions): Egress {
  const ranges: readonly Range[] = allow.map(parseRange);

  const request = async (given: EgressRequest): Promise<EgressOutcome> => {
    const refused = refuseRequest(given);
    if (refused !== undefined) return notSent("egress_denied", refused);
    const { timeoutMs, signal: outer } = given;
    const url = new URL(given.url);
    const control = new AbortController();
    const end = (by: Ending) => () => { control.abort(by); };
    const timer = setTimeout(end("timeout"), timeoutMs);
    const aborted = end("aborted");
    outer?.addEventListener("abort", aborted, { once: true });
    if (outer?.aborted === true) aborted();
    const { signal } = control;
    const early = (reason: "resolve" | "connect" | "tls"): NotSent =>
      signal.reason === "timeout"
        ? notSent(reason, `not done within ${timeoutMs} ms`)
        : notSent("aborted_before_send", "aborted before the request was written");
    try {
      const target = await orEnded(resolveTarget(url, { allow: ranges, resolve }), signal);
      if (target === "ended") return early("resolve");
      if (!target.ok) return notSent(target.reason, target.detail);
      const connected = await connectAny(target, { ca, signal, timeoutMs });
      if (!connected.ok) return signal.aborted ? early(connected.reason) : notSent(connected.reason, connected.detail);
      return await sendRequest(given, { socket: connected.socket, url, signal, bodyMaxBytes });
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", aborted);
    }
  };
  return Object.freeze({ request });
}
