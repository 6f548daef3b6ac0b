import { connect } from "node:net";

/** One answer as it came over the socket. `code` is that of the envelope, if the body is one. */
export type RawAnswer = { status: number; text: string; code: string | undefined };

/** Writes bytes to a port and reads until the other side closes, or `withinMs` is over. */
export function sendRaw(url: string, bytes: string | readonly string[], withinMs = 5_000): Promise<RawAnswer> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => { for (const piece of [bytes].flat()) socket.write(piece); });
    socket.setTimeout(withinMs, () => { socket.destroy(new Error(`no end of the answer within ${String(withinMs)} ms; so far: ${text.slice(0, 200)}`)); });
    socket.on("data", (chunk) => { text += chunk.toString(); });
    socket.on("error", reject);
    socket.on("close", () => {
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text, code: /"error":"([^"]+)"/.exec(text)?.[1] });
    });
  });
}
