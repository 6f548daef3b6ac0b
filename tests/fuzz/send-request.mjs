import net from "node:net";

/** A stream of events that stays open is read for so long. Milliseconds. */
const streamMs = 400;

/**
 * Sends bytes on a connection of their own and reads the first answer: `{ status, headers, body, ms }`; `status`
 * undefined when the connection ended without one, `late` when none came within `withinMs`.
 */
export function sendRequest({ port, bytes, framing, withinMs }) {
  const began = performance.now();
  return new Promise((resolve) => {
    const chunks = [];
    const socket = net.connect({ port, host: "127.0.0.1" });
    let done = false;
    const end = (more = {}) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.destroy();
      resolve({ ...parse(Buffer.concat(chunks)), ms: performance.now() - began, ...more });
    };
    const timer = setTimeout(() => { end({ late: true }); }, withinMs);
    socket.on("connect", () => {
      socket.write(bytes);
      // nothing more comes: what waits for the rest may answer or hang up
      if (["torn", "too long", "no end of head"].includes(framing)) socket.end();
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (chunks.length === 1 && /content-type: text\/event-stream/i.test(chunk.toString("latin1"))) setTimeout(end, streamMs);
    });
    socket.on("error", () => { end(); });
    socket.on("close", () => { end(); });
  });
}

function parse(bytes) {
  const split = bytes.indexOf("\r\n\r\n");
  if (split < 0) return { status: undefined, headers: new Map(), body: "" };
  const [first, ...lines] = bytes.subarray(0, split).toString("latin1").split("\r\n");
  const status = Number(first.split(" ")[1]);
  if (status === 100) return parse(bytes.subarray(split + 4));
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]));
  const rest = bytes.subarray(split + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? unchunk(rest) : rest.subarray(0, Number(headers.get("content-length") ?? rest.length));
  return { status, headers, body: body.toString("utf8") };
}

function unchunk(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16);
    if (end < 0 || !(size > 0)) break;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
