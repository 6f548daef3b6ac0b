import { claimableStatuses, failureClasses, recoveryClasses, terminalStatuses, transitions, wireEffectState } from "@mainstay/domain";

const fences = {
  take: "raises it and becomes the owner",
  hold: "presents owner and fence",
  drop: "presents owner and fence, raises it, leaves no owner",
  lapsed: "takes it from an owner that has lapsed or ended",
  suspected: "takes it from an owner whose session is gone, once between two checkpoints",
  seize: "takes it after the declared grace",
  none: "moves only a run that nobody holds",
};

/** `docs/states.md`, from the table of transitions and the other closed sets of the domain. */
export function generate() {
  return [{ path: "docs/states.md", text: page() }];
}

function page() {
  return `${[
    "# States and moves",
    "Written by `npm run docs` from `packages/domain`; do not edit.",
    "## Moves of a run",
    `Terminal and final: ${list(terminalStatuses)}. May be claimed when nobody holds it and it is due: ${list(claimableStatuses)}.`,
    "No other statement writes the status of a run.",
    table(["move", "from", "to", "by", "fence", "counts", "announces", "statement"], Object.entries(transitions).map(([verb, move]) => [
      verb, list(move.from) || "(born)", list(move.to), move.by, move.fence, move.counts, move.announces ? "yes" : "no", `\`${move.statement}\``,
    ])),
    "## What a move does with the fence",
    table(["fence", "the mover"], Object.entries(fences)),
    "## Classes of failure",
    table(["class", "retried by itself", "first state of its dead letter", "next action"], Object.entries(failureClasses).map(([name, facts]) => [
      `\`${name}\``, facts.retryable ? "yes, within the bound" : "no", facts.firstState, facts.nextAction,
    ])),
    "## States of an effect",
    table(["in the ledger", "on the wire"], Object.entries(wireEffectState).map(([inner, wire]) => [`\`${inner}\``, `\`${wire}\``])),
    "## Recovery classes",
    table(["class", "trigger", "means"], Object.entries(recoveryClasses).map(([name, { trigger, means }]) => [name, `\`${trigger}\``, means])),
  ].join("\n\n")}\n`;
}

const list = (words) => words.map((word) => `\`${word}\``).join(", ");

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
