import type { Row } from "../postgres/change.js";
import { count, instant, text, type Shadow } from "./shadow.js";
import type { Facts, Step } from "./step.js";

/** Judges one change of an effect's row by the laws I4, I5 and H6 to H8; answers what is broken. */
export function judgeEffect({ shadow, step, facts, move: { before, after } }: { shadow: Shadow; step: Step; facts: Facts; move: { before: Row | undefined; after: Row } }): string[] {
  const broken: string[] = [];
  const law = (holds: boolean, name: string): void => { if (!holds) broken.push(`${name} (effect ${text(after, "id").slice(0, 8)}, ${step.name})`); };
  const identity = text(after, "identity").replace("\\x", "");
  const acts = facts.actsOf(identity);
  const launched = after["state"] === "launched" && (before === undefined || count(after, "launch_no") !== count(before, "launch_no"));
  if (launched) {
    const run = shadow.runs.get(text(after, "run_id"));
    law(run?.["owner"] === after["launched_by"] && count(run, "fence") === count(after, "fence"), "I2: no launch under an old fence");
    law(run?.["fork_mode"] !== "replay", "a replay fires nothing");
    law(step.name === "effects.launch" || step.name === "effects.relaunch", "only a launch launches");
  }
  if (before === undefined) return broken;
  law(before["state"] !== "confirmed" || after["state"] === "confirmed", "nothing leaves confirmed");
  if (launched) {
    law(count(after, "launch_no") === count(before, "launch_no") + 1, "a launch is counted");
    const open = before["state"] === "launched" || before["state"] === "unknown";
    law(!(open && before["class"] === "non_idempotent_write"), "I5: an unsettled unsafe launch is never made again");
    law(!open || before["class"] !== "idempotent_write" || instant(before, "key_until") + 2 > step.nowMs, "H7: an unsettled write is sent again only while the key is remembered");
  }
  if (before["state"] !== after["state"] && after["state"] === "absent") {
    law(acts === 0 || shadow.forgotten.has(identity), "I5: what happened is never recorded as absent");
    law(after["settled_via"] !== "reconciler" || instant(before, "quiet_at") <= step.nowMs, "H6: an absent counts only after the quiet instant");
  }
  if (before["state"] !== after["state"] && after["state"] === "confirmed") law(acts > 0, "what is confirmed has happened");
  if (step.name === "effects.settle" && before["state"] !== after["state"]) {
    const items = JSON.parse(String(step.values[0])) as { effect_id: string; launch_no: number }[];
    law(items.some((item) => item.effect_id === after["id"] && item.launch_no === count(before, "launch_no")), "H8: evidence settles the launch it speaks of");
  }
  return broken;
}
