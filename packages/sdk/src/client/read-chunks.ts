import { orAborted } from "./or-aborted.js";

/** The body of an answer as it comes; ends with the signal. However the reading ends, the connection is let go. */
export async function* readChunks(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  try {
    for (;;) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
