import type { CliConfig } from "@mainstay/config";
import type { OutputFormat } from "../output/print.js";
import type { ExitStatus } from "./exit-status.js";

/** What a command may touch of the world; `main.ts` makes it. */
export type Console = Readonly<{
  /** Data: the answer of the command, and nothing else. */
  out: (text: string) => void;
  /** Everything that is not data. */
  err: (text: string) => void;
  /** The environment as one read configuration. Throws `ConfigError`. */
  config: () => CliConfig;
  /** The environment itself, for processes that are started. */
  env: Readonly<Record<string, string | undefined>>;
  /** Aborts at Ctrl-C. */
  interrupted: AbortSignal;
  /** What the process ends with; the last call wins. */
  end: (status: ExitStatus) => void;
  readInput: () => Promise<string>;
}>;

/** The options that every command takes. */
export type GlobalOptions = Readonly<{ output?: OutputFormat; json?: true; url?: string; apiKey?: string; debug?: true }>;
