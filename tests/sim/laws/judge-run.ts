import type { Row } from "../postgres/change.js";
import { count, instant, isClaimable, isEnded, isGone, text, type Shadow } from "./shadow.js";
import type { Facts, Step } from "./step.js";

const releases: Readonly<Record<string, true>> = {
  "runs.take_over": true, "runs.suspect": true, "runs.hand_back": true, "runs.enforce_stops": true, "runs.enforce_deadlines": true,
};
const claims: Readonly<Record<string, true>> = { "runs.claim": true, "runs.sweep": true };

/** A run's row before and after a statement, and who shared its death. */
export type RunMove = Readonly<{ before: Row | undefined; after: Row; cohort: number }>;

/** Judges one change of a run's row by the laws I1, I2, I3, I9 and H15; answers what is broken. */
export function judgeRun({ shadow, step, facts, move }: { shadow: Shadow; step: Step; facts: Facts; move: RunMove }): string[] {
  const { before, after } = move;
  const broken: string[] = [];
  const law = (holds: boolean, name: string): void => { if (!holds) broken.push(`${name} (run ${text(after, "id").slice(0, 8)}, ${step.name})`); };
  if (before === undefined) return [...broken, ...judgeBirth(shadow, step, after)];
  const [was, is] = [before["owner"], after["owner"]];

  law(!isEnded(before) || sameFate(before, after), "I3: nothing leaves a terminal state");
  law(count(after, "fence") >= count(before, "fence"), "I2: fences never fall");
  law(was === is || is === null || count(after, "fence") > count(before, "fence"), "I2: a claim raises the fence");
  law(was === is || was === null || is !== null || isEnded(after) || after["status"] === "paused" || count(after, "fence") > count(before, "fence"), "I2: a release raises the fence");
  law(was === is || was === null || is === null, "I2: at most one live claim: a held run is not claimed");
  if (was === null && is !== null) claimed();
  if (was !== null && is === null) released();
  law(before["stop_requested"] !== "cancel" || is !== null || was === null || after["status"] === "cancelled", "a cancel comes before every other end");
  law(!(before["stop_requested"] === "cancel" && ["completed"].includes(text(after, "status"))), "a cancelled run does not complete");
  if (step.name === "runs.progress" && before["write_id"] === after["write_id"]) broken.push(`H13: a repeated write changes nothing (run ${text(after, "id").slice(0, 8)})`);
  law(!(step.name === "runs.request_pause" || step.name === "runs.unpause") || before["due_at"] === after["due_at"], "a paused run keeps the due time it had");
  law(before["status"] !== "paused" || after["status"] === "paused" || step.name !== "runs.unpause" || after["status"] === before["paused_from"], "a resumed run is what it was");
  law(before["status"] !== "paused" || after["status"] === "paused" || ["runs.unpause", "runs.request_stop", "runs.enforce_deadlines"].includes(step.name), "a paused run is moved by an operator or its deadline alone");
  law(step.name !== "runs.request_pause" || was === null || after["status"] === before["status"], "a pause is asked of the holder, not written over it");
  law(step.name !== "runs.request_pause" || before["stop_requested"] !== "cancel" || after["stop_requested"] === "cancel", "a pause weakens no cancel");
  law((after["paused_from"] !== null) === (after["status"] === "paused"), "only a paused run knows what it was before");
  law(step.name !== "runs.unpause" || before["status"] === "paused" || before["stop_requested"] === "pause", "a resume moves only what is paused or asked to be");
  law(step.name !== "runs.unpause" || was === is, "a resume takes nothing from a holder");
  law(step.name !== "runs.request_stop" || before["stop_requested"] === "cancel" || after["stop_reason"] === step.values[2], "the first cancel is told with its own reason");
  law(step.name !== "runs.request_stop" || was === null || after["status"] === before["status"], "a cancel is asked of the holder, not written over it");
  // a ticket that was written since the statement's snapshot is not seen: it stays until it is due, or its run is purged
  law(step.raced || was !== null || !isEnded(after) || isEnded(before) || !leavesTimer(), "a run that ends while it waits takes the ticket of its timer along");
  if (isClaimable(after) && after["stop_requested"] === null && (!isClaimable(before) || instant(after, "due_at") < instant(before, "due_at"))) {
    law(step.outcome.changes.some(({ table, op, row }) => table === "outbox" && op === "I" && row["run_id"] === after["id"]), "a move that makes a run claimable leaves an outbox row");
  }
  return broken;

  function claimed(): void {
    const owner = text(after, "owner");
    law(claims[step.name] === true, "only a claim takes a run");
    law(isClaimable(before) && before!["stop_requested"] === null, "only what waits and is not to stop is claimed");
    law(instant(before, "due_at") <= step.nowMs, "a run is not claimed before it is due");
    law(facts.servedBy(owner).includes(text(before, "requires")), "H19: a worker claims only what it serves");
    law(step.raced || !isGone(shadow.incarnations.get(owner)), "H2: a dead incarnation claims nothing");
    law(count(after, "claims") === count(before, "claims") + 1, "a claim is counted");
  }

  function released(): void {
    const owner = text(before, "owner");
    const grew = (name: string): number => count(after, name) - count(before, name);
    switch (step.name) {
      case "runs.take_over":
        law(isGone(shadow.incarnations.get(owner)), "H2: only the runs of a dead owner are taken over");
        break;
      case "runs.suspect":
        law(count(before, "open_effects") === 0, "a suspicion takes no run out of its effect");
        law(!facts.isHale(owner), "an outage of the database makes nobody a suspect");
        law(before!["suspicion_used"] === false, "H15: a suspicion serves a run once between two checkpoints");
        break;
      case "runs.hand_back":
        law(owner === step.values[3], "only the holder hands back");
        law(handedBack()?.fence === String(before!["fence"]), "I2: a hand-back bears the fence");
        law(handedBack()?.kind !== "hand_back" || count(before, "open_effects") === 0, "H15: a run with an open effect is not handed back");
        break;
      case "runs.enforce_stops":
        law(before!["stop_drain"] !== "drain-current-node" || before!["stop_requested"] === "cancel", "a pause that lets its node finish is left to its holder");
        law(before!["stop_requested"] !== null && instant(before, "stop_at") <= step.nowMs - facts.cancelGraceMs, "a stop takes the fence only after the grace");
        break;
      case "runs.enforce_deadlines":
        law(instant(before, "deadline_at") <= step.nowMs, "a deadline ends a run only once it has passed");
        break;
      case "runs.progress":
        law(writes().some((write) => write.id === after["id"] && write.owner === owner && String(write.fence) === String(before!["fence"])), "I2: no write lands under an old fence");
        law(before!["stop_requested"] !== "pause" || after["status"] === "paused" || after["status"] === "failed", "a pause that was asked for comes before a completion and a wait");
        law(before!["stop_requested"] !== null || after["status"] !== "paused", "nobody pauses what is not asked to pause");
        break;
      default:
        law(releases[step.name] === true, "only its holder, the fleet or a lane ends a hold");
    }
    law(releases[step.name] !== true || before!["stop_requested"] !== "pause" || after["status"] === "paused" || step.name === "runs.enforce_deadlines", "a release honours the pause that was asked for");
    law(releases[step.name] !== true || after["status"] !== "failed" || !openUnsafe(), "a run is not buried as if nothing of it were open");
    if (step.name in { "runs.take_over": 0, "runs.suspect": 0, "runs.hand_back": 0 } && after["status"] !== "cancelled" && after["status"] !== "paused") {
      law(grew("crashes") + grew("losses") + grew("hand_backs") === 1, "I9: a loss is counted once");
      const shared = step.name === "runs.take_over" && move.cohort > 1 && count(before, "stale_losses") < facts.limits.lossLimit && grew("hand_backs") === 0;
      law(!(shared && grew("crashes") > 0), "H15: a death shared by several runs is charged to none");
    }
  }

  /** A ticket of its own stays for the instant that it waited for. */
  function leavesTimer(): boolean {
    const withdrawn = new Set(step.outcome.changes.filter(({ table, op }) => table === "outbox" && op === "D").map(({ row }) => row["seq"]));
    return instant(before, "due_at") > step.nowMs && [...shadow.outbox.values()].some((row) =>
      row["run_id"] === after["id"] && row["due_at"] === before!["due_at"] && !withdrawn.has(row["seq"]));
  }
  /** An unsafe launch of it that nobody calls unknown. */
  function openUnsafe(): boolean {
    const doubted = new Set(step.outcome.changes.filter(({ table, row }) => table === "effects" && row["state"] === "unknown").map(({ row }) => row["id"]));
    return [...shadow.effects.values()].some((effect) =>
      effect["run_id"] === after["id"] && effect["state"] === "launched" && effect["class"] === "non_idempotent_write" && !doubted.has(effect["id"]));
  }
  function handedBack(): { fence: string; kind: string } | undefined {
    const [ids, fences, kinds] = step.values as [string[], string[], string[]];
    const at = ids.findIndex((id, i) => id === after["id"] && fences[i] === String(before!["fence"]));
    return at < 0 ? undefined : { fence: fences[at] ?? "", kind: kinds[at] ?? "" };
  }
  function writes(): { id: string; owner: string; fence: string | number }[] {
    return JSON.parse(String(step.values[0])) as { id: string; owner: string; fence: string }[];
  }
}

/** A run is born: I13, and what a fork brings with it. */
function judgeBirth(shadow: Shadow, step: Step, after: Row): string[] {
  const broken: string[] = [];
  const law = (holds: boolean, name: string): void => { if (!holds) broken.push(`${name} (run ${text(after, "id").slice(0, 8)}, ${step.name})`); };
  const twins = [...shadow.runs.values()].filter((run) => run["id"] !== after["id"] && run["lineage"] === after["lineage"] && !isEnded(run));
  law(twins.length === 0, "I13: at most one live run of a lineage");
  if (after["forked_from"] === null) return broken;
  const source = shadow.runs.get(text(after, "forked_from"));
  law(isEnded(source), "only a run that has ended is forked");
  law(after["lineage"] === after["id"], "a fork is a lineage of its own");
  law(count(after, "fence") >= count(source, "fence"), "I2: the fences of a fork stand above those it copied");
  law(step.outcome.changes.some(({ table, row }) => table === "outbox" && row["run_id"] === after["id"]), "a fork leaves an outbox row");
  const copied = step.outcome.changes.filter(({ table, row }) => table === "run_events" && row["run_id"] === after["id"]).length;
  law(copied === count(after, "fork_seq"), "a fork copies its source's log up to its point, whole");
  const outcomes = (shadow.events.get(text(after, "forked_from")) ?? []).filter((one) => count(one, "seq") >= count(after, "fork_seq") && recordable.has(text(one, "type"))).length;
  const kept = step.outcome.changes.filter(({ table, row }) => table === "recorded_outcomes" && row["run_id"] === after["id"]).length;
  law(after["fork_mode"] !== "replay" || kept === outcomes, `a replay has every outcome of its source with it (${kept} of ${outcomes})`);
  return broken;
}

const recordable = new Set(["node.completed", "node.failed", "node.skipped", "run.completed", "run.failed", "run.cancelled"]);
const fates = ["status", "owner", "fence", "event_seq", "finished_at", "claims"];
const sameFate = (before: Row, after: Row): boolean => fates.every((name) => before[name] === after[name]);
