import type { RunStatus as RunStatusWord } from "@mainstay/domain";
import { z } from "zod";

/** The status words of a run, in the database as on the wire. A dead-lettered run reads `failed`. */
export const RunStatus = z
  .enum([
    "pending",
    "running",
    "paused",
    "waiting-approval",
    "waiting-input",
    "waiting-external",
    "cancelling",
    "completed",
    "failed",
    "cancelled",
  ] as const satisfies readonly RunStatusWord[])
  .meta({ id: "RunStatus" });
/** See the schema of the same name. */
export type RunStatus = z.infer<typeof RunStatus>;

/** Whether nothing can follow: `completed`, `failed` or `cancelled`. */
export function isTerminalStatus(status: RunStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
