import type { Role } from "./role.js";

/** How a process ended, as its parent saw it: by a signal, or by itself with an exit status. */
export type Exit = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>;

/** One line a process wrote, without its line feed. `event` is the line as JSON where it is a JSON object. */
export type LogLine = Readonly<{ text: string; event: Readonly<Record<string, unknown>> | undefined }>;

/** A child of this process, from its start on; it need not be ready yet. */
export type StartedProcess = Readonly<{
  role: Role;
  /** Unique in its fleet, such as `worker-2`. */
  name: string;
  pid: number;
  /** Settles when the process has ended; never rejects. */
  exited: Promise<Exit>;
  /** The end, when it has come. */
  exit: () => Exit | undefined;
  /** The signals that were sent to it through this handle, oldest first: an end without one was its own. */
  asked: () => readonly NodeJS.Signals[];
  /** Sends a signal and goes on. A process that has ended gets none; answers whether it was sent. */
  send: (signal: NodeJS.Signals) => boolean;
  /** Sends a signal and waits for the end, however long that takes. */
  kill: (signal: NodeJS.Signals) => Promise<Exit>;
  /** SIGSTOP: connections stay open, nothing runs. */
  freeze: () => void;
  /** SIGCONT. */
  thaw: () => void;
  /** What it wrote last to stdout and stderr, oldest first; bounded, the log file holds everything. */
  lines: () => readonly LogLine[];
  /** Hears every further line. Answers the way to stop hearing. */
  onLine: (hear: (line: LogLine) => void) => () => void;
}>;

/** A process that has answered its readiness probe. */
export type FleetProcess = StartedProcess & Readonly<{
  /** The id of this start of it, as the fleet knows it. */
  incarnation: string;
  port: number;
  /** Its address, without a slash at the end. */
  url: string;
}>;
