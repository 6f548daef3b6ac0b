import type { Scale } from "./case-on.js";

/** What a case leaves behind for the runner and the table. */
export type CaseRecord = {
  id: string;
  title: string;
  scale: Scale;
  result: "passed" | "failed" | "not run";
  seconds: number;
  measures: { name: string; value: number | string; unit: string }[];
  /** Parts that wait for something; they are never counted as passed. `all` is the whole case. */
  notRun: { part: string; needs: string }[];
  error?: string;
};
