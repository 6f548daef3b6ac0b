import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import type { LogLine } from "./fleet-process.js";

/** What a process wrote: the last lines in memory, all of them in the file. */
export type Log = Readonly<{
  lines: () => readonly LogLine[];
  onLine: (hear: (line: LogLine) => void) => () => void;
  /** Takes the lines of one of the child's streams; read to its end, so that the child never blocks on a full pipe. */
  take: (stream: Readable) => void;
  /** Adds the reason why the child never began. */
  fail: (error: Error) => void;
  /** The last lines as one text, for messages. */
  tail: () => string;
}>;

/** A line longer than this is cut, so that a process that writes no line feed cannot fill the memory. */
const longestLine = 65_536;

/** Keeps the last `kept` lines, and appends everything to `file` where one is given. */
export function keepLog({ kept, file }: { kept: number; file: string | undefined }): Log {
  const lines: LogLine[] = [];
  const hearers = new Set<(line: LogLine) => void>();
  const fd = open(file);
  let streams = 0;

  const add = (text: string): void => {
    const line = { text, event: parse(text) };
    lines.push(line);
    if (lines.length > kept) lines.shift();
    for (const hear of hearers) hear(line);
  };
  return {
    lines: () => lines,
    onLine(hear) {
      hearers.add(hear);
      return () => void hearers.delete(hear);
    },
    take(stream) {
      streams += 1;
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        if (fd !== undefined) writeSync(fd, chunk);
        const parts = (rest + chunk).split("\n");
        rest = (parts.pop() ?? "").slice(0, longestLine);
        for (const part of parts) add(part.slice(0, longestLine));
      });
      stream.on("error", () => undefined); // the pipe of a killed child; its end says what happened
      stream.on("close", () => {
        if (rest !== "") add(rest);
        rest = "";
        streams -= 1;
        if (streams === 0 && fd !== undefined) closeSync(fd);
      });
    },
    fail: (error) => add(error.message),
    tail: () => lines.slice(-20).map(({ text }) => text).join("\n"),
  };
}

function open(file: string | undefined): number | undefined {
  if (file === undefined) return undefined;
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, "a");
}

function parse(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
