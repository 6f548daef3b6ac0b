import { isTerminalEvent, isTerminalStatus, projectId, type RunEvent } from "@mainstay/contract";
import { createParser } from "eventsource-parser";
import { ClientError, Unreachable } from "./client-error.js";
import type { RunsClient, StreamOptions } from "./runs-client.js";
import { limitTry } from "./limit-try.js";
import { pause } from "./pause.js";
import { readChunks } from "./read-chunks.js";
import type { Transport } from "./transport.js";

/** A stream silent for longer than this is taken for dead: the server says something at least every 15 s. */
const silenceMs = 35_000;

/**
 * Where a reader stands; `frames` yields events in order and remembers the last sequence it saw. `lostAt` is when the
 * connection was lost, until the server is heard again, by an event or a keep-alive.
 */
type Position = { last: number; retryMs: number; lostAt: number | undefined };

/**
 * Follows a run's events over server-sent events. A lost connection is resumed by `Last-Event-ID`: no event is skipped
 * or given twice. Ends after the terminal event.
 *
 * @throws ClientError for an error answer other than 429 and 5xx, Unreachable when reconnecting was given up.
 */
export async function* streamEvents(
  transport: Transport,
  runs: Pick<RunsClient, "get">,
  options: StreamOptions & Readonly<{ runId: string }>,
): AsyncGenerator<RunEvent, void, undefined> {
  const position: Position = { last: (options.from ?? 0) - 1, retryMs: 250, lostAt: undefined };
  const reconnectForMs = options.reconnectForMs ?? 60_000;
  let knownTerminal = false;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      for await (const event of frames(transport, options, position)) {
        yield event;
        if (isTerminalEvent(event.type)) return;
      }
      // The server closed in order: the log is at its end, or the server is draining.
      if (knownTerminal) return;
      knownTerminal = isTerminalStatus((await runs.get(options.runId)).status);
      position.lostAt = undefined;
      if (knownTerminal) continue;
    } catch (thrown) {
      options.signal?.throwIfAborted();
      if (thrown instanceof ClientError && thrown.status < 500 && thrown.status !== 429) throw thrown;
      position.lostAt ??= performance.now();
      if (performance.now() - position.lostAt >= reconnectForMs) throw new Unreachable("the event stream", thrown);
    }
    await pause(position.retryMs * (0.5 + Math.random()), options.signal);
  }
}

async function* frames(
  transport: Transport,
  options: StreamOptions & Readonly<{ runId: string }>,
  position: Position,
): AsyncGenerator<RunEvent, void, undefined> {
  const silence = limitTry(options.silenceMs ?? silenceMs, options.signal);
  try {
    const response = await transport.open({
      method: "GET",
      path: `/runs/${projectId(options.runId)}/events`,
      query: { streamMode: options.streamMode ?? "debug" },
      headers: {
        accept: "text/event-stream",
        ...(position.last < 0 ? {} : { "last-event-id": String(position.last) }),
      },
      signal: silence.signal,
    });
    const arrived: RunEvent[] = [];
    const parser = createParser({
      onEvent: ({ data }) => { arrived.push(JSON.parse(data) as RunEvent); },
      onRetry: (ms) => { position.retryMs = ms; },
    });
    const decoder = new TextDecoder();
    for await (const chunk of readChunks(response, silence.signal)) {
      silence.restart();
      position.lostAt = undefined;
      parser.feed(decoder.decode(chunk, { stream: true }));
      for (const event of arrived.splice(0)) {
        if (event.sequence <= position.last) continue;
        position.last = event.sequence;
        silence.pause(); // how long the reader's own code takes says nothing of the server
        yield event;
        silence.restart();
      }
    }
  } finally {
    silence.release();
  }
}
