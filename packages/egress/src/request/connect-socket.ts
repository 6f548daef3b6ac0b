import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** A socket that stands, or which step of making it failed. */
export type Connected = { ok: true; socket: Socket } | { ok: false; reason: "connect" | "tls"; detail: string };

/** What to connect to. The address is the one that was checked; the name only proves the certificate. */
export type ConnectOptions = Readonly<{
  address: string;
  hostname: string;
  port: number;
  secure: boolean;
  /** Certificates trusted instead of the system's, PEM. */
  ca: string | undefined;
  /** Aborting destroys the socket. */
  signal: AbortSignal;
  /** The longest an address may take to answer before the next is tried. */
  withinMs: number;
}>;

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : error.message;
}

/** Connects to one checked address and, for https, shakes hands. No byte of a request is written. */
export function connectSocket({ address, hostname, port, secure, ca, signal, withinMs }: ConnectOptions): Promise<Connected> {
  return new Promise((resolve) => {
    const tcp = connectTcp({ host: address, port, family: isIP(address), noDelay: true });
    let socket: Socket = tcp;
    let step: "connect" | "tls" = "connect";

    const settle = (result: Connected): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      for (const one of [tcp, socket]) {
        // From here on whoever uses the socket hears of its failures; one that was given up has nobody to tell.
        one.on("error", () => undefined);
        one.removeListener("error", failed);
        one.removeListener("close", closed);
        if (!result.ok) one.destroy();
      }
      resolve(result);
    };
    const failed = (error: Error): void => { settle({ ok: false, reason: step, detail: codeOf(error) }); };
    const closed = (): void => { settle({ ok: false, reason: step, detail: "closed by the other side" }); };
    const aborted = (): void => { settle({ ok: false, reason: step, detail: "given up" }); };
    const timer = setTimeout(() => { settle({ ok: false, reason: step, detail: `no answer within ${withinMs} ms` }); }, withinMs);

    signal.addEventListener("abort", aborted, { once: true });
    tcp.once("error", failed);
    tcp.once("close", closed);
    tcp.once("connect", () => {
      if (!secure) {
        settle({ ok: true, socket: tcp });
        return;
      }
      step = "tls";
      tcp.removeListener("close", closed);
      socket = connectTls({
        socket: tcp, ALPNProtocols: ["http/1.1"],
        ...(isIP(hostname) === 0 ? { servername: hostname } : { host: hostname }),
        ...(ca === undefined ? {} : { ca }),
      });
      socket.once("error", failed);
      socket.once("close", closed);
      socket.once("secureConnect", () => { settle({ ok: true, socket }); });
    });
    if (signal.aborted) aborted();
  });
}
