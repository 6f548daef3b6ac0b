import { count, text, type Shadow } from "./shadow.js";

/** Workflows whose effect has a business key: one row for many runs. */
const sharing = new Set(["shares", "meets"]);

/** At the end of a seed: a branch that executed an effect anew did so under an identity of its own. */
export function judgeForks(shadow: Shadow): string[] {
  const broken: string[] = [];
  for (const run of shadow.runs.values()) {
    if (run["fork_mode"] !== "branch" || run["status"] !== "completed" || sharing.has(text(run, "workflow_id"))) continue;
    const id = text(run, "id");
    const anew = (shadow.events.get(id) ?? []).slice(count(run, "fork_seq")).some((one) => one["type"] === "node.completed" && one["node_id"] === "p");
    const own = [...shadow.effects.values()].some((effect) => effect["run_id"] === id && effect["state"] === "confirmed");
    if (anew && !own) broken.push(`a fork's effects are its own (run ${id.slice(0, 8)})`);
  }
  return broken;
}
