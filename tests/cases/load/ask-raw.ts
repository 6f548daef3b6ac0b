import { request, type IncomingMessage } from "node:http";

/** An answer as it came, its body as text. */
export type RawAnswer = Readonly<{ status: number; headers: IncomingMessage["headers"]; text: string; json: () => Record<string, unknown> }>;

/** A request whose body is sent byte for byte, on a connection of its own. */
export type RawRequest = Readonly<{
  url: string;
  key: string;
  method?: "GET" | "POST";
  body?: string | Buffer;
  headers?: Readonly<Record<string, string>>;
}>;

/**
 * Sends one request and reads its whole answer.
 *
 * @throws when the connection ends before an answer has come.
 */
export async function askRaw({ url, key, body, method = body === undefined ? "GET" : "POST", headers = {} }: RawRequest): Promise<RawAnswer> {
  const asking = request(url, {
    method, agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
      ...headers,
    },
  });
  let failed: Error | undefined;
  asking.on("error", (error) => { failed = error; }); // an answer may have come before the rest of the body was refused
  const chunks: Buffer[] = [];
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asking.once("response", (response) => {
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => undefined);
      response.once("close", () => { resolve(response); });
    });
    asking.once("close", () => { reject(failed ?? new Error("the connection closed without an answer")); });
  });
  asking.end(body);
  const response = await answered;
  asking.destroy();
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) as Record<string, unknown> };
}
