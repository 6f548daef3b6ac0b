import { Refusal } from "../server/refusal.js";
import { unknownRun } from "./owned-run-id.js";

/** The refusal of a move that the run's state does not allow: nothing was done. */
export function refuseState(answer: { kind: "not_found" } | { kind: "terminal" } | { kind: "conflict"; status: string }, expected: string): Refusal {
  if (answer.kind === "not_found") return unknownRun();
  if (answer.kind === "terminal") return new Refusal("run_terminal", "the run has ended; nothing was done");
  return new Refusal("run_state_conflict", `the run is ${answer.status}; expected ${expected}; nothing was done`, { details: { runStatus: answer.status } });
}
