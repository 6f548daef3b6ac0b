/** One message of the Postgres protocol, version 3. The start-up message has no type byte: its type is "". */
export type WireMessage = Readonly<{ type: string; body: Buffer }>;

/** Cuts a stream of bytes into messages; keeps the rest until more comes. */
export type MessageReader = (chunk: Buffer) => WireMessage[];

/** Reads what a server sends. */
export function readServerMessages(): MessageReader {
  return createReader("typed");
}

/** Reads what a client sends. The client must not ask for TLS: its request would be taken for the start-up message. */
export function readClientMessages(): MessageReader {
  return createReader("startup");
}

function createReader(first: "typed" | "startup"): MessageReader {
  let expected = first;
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: WireMessage[] = [];
    for (;;) {
      const header = expected === "startup" ? 0 : 1;
      if (rest.length < header + 4) return messages;
      const end = header + rest.readInt32BE(header);
      if (rest.length < end) return messages;
      messages.push({ type: header === 0 ? "" : String.fromCharCode(rest[0] ?? 0), body: rest.subarray(header + 4, end) });
      rest = rest.subarray(end);
      expected = "typed";
    }
  };
}

/** The zero-terminated texts at the start of a message's body. */
export function textsOf(body: Buffer, count: number): string[] {
  const texts: string[] = [];
  let at = 0;
  for (let n = 0; n < count; n++) {
    const end = body.indexOf(0, at);
    if (end < 0) break;
    texts.push(body.toString("utf8", at, end));
    at = end + 1;
  }
  return texts;
}
