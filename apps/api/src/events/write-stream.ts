import { isTerminalEvent, isTerminalStatus, type RunEvent, type RunStatus } from "@mainstay/contract";
import { readEvents } from "@mainstay/database";
import type { FastifyReply } from "fastify";
import type { ApiParts } from "../server/parts.js";
import { hangUp } from "./hang-up.js";
import { eventPageSize } from "./poll-events.js";
import { toEvent } from "./to-event.js";

/** What one stream shows, and from where. */
export type StreamRequest = Readonly<{
  workspace: string;
  runId: string;
  /** The sequence after which it begins; −1 for the whole log. */
  after: number;
  shows: (type: string) => boolean;
  /** 0 sends each event as a frame of its own; else frames of one period go as one `event: batch`. */
  bufferMs: number;
}>;

/** Bytes of payload that one stream holds in memory, and the one event that reaches them. */
const pageMaxBytes = 65_536;

/** The longest silence: a comment is sent, so that proxies and readers see the stream alive. */
const keepAliveMs = 15_000;

/**
 * Writes a run's log as server-sent events until its terminal event, until the client goes, or until the process
 * stops; then it closes with a jittered `retry`, so that readers do not come back all at once. Rows are read; hints
 * only say when. A database that is away is waited for.
 *
 * @throws when the client has read nothing for `MAINSTAY_STREAM_STALL_MS` while something waits to be sent; the caller
 * breaks the connection, and a client that lives resumes.
 */
export async function writeStream(reply: FastifyReply, parts: ApiParts, asked: StreamRequest): Promise<void> {
  const { raw } = reply;
  const signal = hangUp(reply, parts.stopping);
  let after = asked.after;
  let saidAt = performance.now();

  /** Waits while the client reads slower than the log grows. */
  async function say(text: string): Promise<void> {
    saidAt = performance.now();
    if (raw.write(text) || signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const on = (): void => {
        clearTimeout(stalled);
        raw.removeListener("drain", on);
        raw.removeListener("close", on);
        signal.removeEventListener("abort", on);
        resolve();
      };
      const { streamStallMs } = parts.config;
      const stalled = setTimeout(() => {
        reject(new Error(`the client has read nothing for ${String(streamStallMs)} ms`));
        on();
      }, streamStallMs);
      raw.once("drain", on);
      raw.once("close", on);
      signal.addEventListener("abort", on, { once: true });
    });
  }

  async function send(events: readonly RunEvent[]): Promise<void> {
    const last = events.at(-1);
    if (last === undefined) return;
    if (asked.bufferMs > 0) await say(frame(last.sequence, "batch", events));
    else for (const event of events) await say(frame(event.sequence, event.type, event));
  }

  while (!signal.aborted) {
    const page = await readEvents(parts.database, asked.workspace, { runId: asked.runId, after, limit: eventPageSize, maxBytes: pageMaxBytes })
      .catch(() => "away" as const);
    if (page === undefined) break; // purged meanwhile
    if (page !== "away") {
      const seen = page.events.map((row) => toEvent(row, asked.workspace, asked.runId));
      await send(seen.filter((event) => asked.shows(event.type)));
      after = seen.at(-1)?.sequence ?? after;
      if (seen.some((event) => isTerminalEvent(event.type))) break;
      if (after < page.eventCount - 1) continue; // the page was full
      if (isTerminalStatus(page.status as RunStatus)) break;
    }
    if (asked.bufferMs > 0 && page !== "away" && page.events.length > 0) {
      await parts.logWatch.wait({ ...asked, known: Number.MAX_SAFE_INTEGER, withinMs: asked.bufferMs, signal });
    }
    // A reader beyond the end of a live log is woken by its growth too: its end closes the stream.
    const known = page === "away" ? Number.MAX_SAFE_INTEGER : page.eventCount;
    const withinMs = page === "away" ? 500 : Math.max(1, saidAt + keepAliveMs - performance.now());
    const outcome = await parts.logWatch.wait({ ...asked, known, withinMs, signal });
    if (outcome === "quiet" && performance.now() - saidAt >= keepAliveMs - 50) await say(": still here\n\n");
  }
  if (parts.stopping.aborted) raw.write(`retry: ${String(500 + Math.floor(Math.random() * 1_500))}\n\n`);
  raw.end();
  const unread = setTimeout(() => raw.socket?.resetAndDestroy(), parts.config.streamStallMs).unref(); // nobody takes the rest
  raw.once("close", () => { clearTimeout(unread); });
}

function frame(id: number, event: string, data: unknown): string {
  return `id: ${String(id)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
