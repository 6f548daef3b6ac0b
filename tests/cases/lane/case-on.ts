import type { Receiver, TestFleet, TestFleetOptions } from "@mainstay/testing";
import type { Begun, StandingCheck } from "../standing/watched.js";
import type { ToolName } from "../tools/require-tool.js";

/** `full`: the counts and times of the case list, in `npm run test:cases`. `scaled`: once, with a lease of one second. */
export type Scale = "full" | "scaled";

/** How a case's fleet is made, and what its standing checks must know. */
export type CaseFleetOptions = TestFleetOptions & Readonly<{
  /** The outside worlds its effects reach: each identity may be accepted once. */
  receivers?: readonly Receiver[];
  /** Standing checks that do not hold in this case by design, each with the reason. */
  except?: Readonly<Partial<Record<StandingCheck, string>>>;
}>;

/** A fleet in miniature under the standing checks. `stop` checks first, unless that has been done. */
export type CaseFleet = TestFleet & Readonly<{
  /** Submits a run as `accept` says; another api is tried, under one idempotency key, until one has answered. The canary is laid into its input. */
  submit: (workflowId: string, inputs: Readonly<Record<string, unknown>>, options?: Readonly<{ withinMs?: number }>) => Promise<string>;
  /** Tells of a run that was answered with 2xx: it must be known at the end. */
  accept: (runId: string) => void;
  /** What code nodes wrote into `MAINSTAY_TEST_LEDGER` so far. */
  begun: () => readonly Begun[];
  /** The most sessions of its processes that were seen at once. */
  peakSessions: () => number;
}>;

/** What a case is given. */
export type CaseOn = Readonly<{
  scale: Scale;
  /** One of two values by scale. */
  pick: <T>(full: T, scaled: T) => T;
  /** A text to lay into inputs; it may show in no log, metric or reason. `submit` does so by itself. */
  canary: string;
  /** Tells progress on stderr. */
  tell: (line: string) => void;
  /** A number for the table of results. */
  measure: (name: string, value: number | string, unit?: string) => void;
  /** A part that waits for something; it is counted apart and never as passed. The part `all` is the whole case. */
  notRun: (part: string, needs: string) => void;
  /** The place of a tool that the case named in `tools`. */
  tool: (name: ToolName) => string;
  /** Starts a fleet, full scale on the product's own times; it is checked and stopped when the case ends. */
  startFleet: (options?: CaseFleetOptions) => Promise<CaseFleet>;
  /** Runs the standing checks now; they run at the end anyway. */
  checkStanding: (fleet: CaseFleet) => Promise<void>;
  /** Undone at the end in reverse order, also after a failure. */
  defer: (undo: () => unknown) => void;
}>;

/** What a case is called and what it takes. */
export type CaseDescription = Readonly<{
  id: `C${number}`;
  /** A true sentence. */
  title: string;
  /** Expected minutes at full scale; it may take three times as long. */
  fullMinutes: number;
  /** Expected seconds at scaled times; a loaded machine may take ten times as long. */
  scaledSeconds: number;
  /** Programs it needs; where one cannot be got, the case is not run, and fails in CI. */
  tools?: readonly ToolName[];
}>;
