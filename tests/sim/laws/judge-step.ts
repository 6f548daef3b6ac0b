import type { Change, Row } from "../postgres/change.js";
import { judgeEffect } from "./judge-effect.js";
import { judgeRun } from "./judge-run.js";
import { count, instant, isEnded, isGone, take, text, type Shadow } from "./shadow.js";
import type { Facts, Step } from "./step.js";

/** Errors that a statement may meet without any fault of its own. */
const contention = new Set(["40001", "40P01", "55P03", "57014"]);

/** Takes a step in and answers every law that it broke. */
export function judgeStep(shadow: Shadow, step: Step, facts: Facts): string[] {
  const broken: string[] = [];
  const { changes, error } = step.outcome;
  if (error !== undefined) {
    if (!expected(step, error)) broken.push(`no statement fails by itself: ${step.name}: ${error.message}`);
    return broken;
  }
  broken.push(...judgeAnswers(shadow, step));
  const owned = new Map<string, number>();
  for (const run of shadow.runs.values()) if (run["owner"] !== null) owned.set(text(run, "owner"), (owned.get(text(run, "owner")) ?? 0) + 1);
  const touched = new Set<string>();
  const fences = new Map<string, Set<number>>();
  const seen = (run: string, fence: number): void => { fences.set(run, (fences.get(run) ?? new Set()).add(fence)); };
  const stood = new Map([...new Set(changes.flatMap(({ table, row }) => (table === "run_events" ? [text(row, "run_id")] : [])))].map((run) => [run, shadow.runs.get(run)]));
  for (const change of inOrder(changes)) {
    const { table, row } = change;
    const before = take(shadow, change);
    if (change.op === "D") {
      if (table === "runs") broken.push(...judgePurge(shadow, step, row));
      if (step.name === "outbox.isolate") broken.push(...judgeIsolation(step, row, facts));
      continue;
    }
    if (table === "runs") {
      const owner = text(before, "owner");
      const cohort = Math.max(owned.get(owner) ?? 0, count(shadow.incarnations.get(owner), "held_at_lapse"));
      touched.add(text(row, "id"));
      if (before !== undefined) seen(text(row, "id"), count(before, "fence"));
      seen(text(row, "id"), count(row, "fence"));
      broken.push(...judgeRun({ shadow, step, facts, move: { before, after: row, cohort } }));
    }
    if (table === "effects") {
      touched.add(text(row, "run_id"));
      broken.push(...judgeEffect({ shadow, step, facts, move: { before, after: row } }));
    }
    if (table === "run_nodes" && before !== undefined) broken.push(...judgeNode({ before, after: row }, step, shadow));
    if (table === "incarnations" && before !== undefined) {
      if (isGone(before) && count(row, "beat_no") !== count(before, "beat_no")) broken.push("H2: a dead incarnation beats no more");
      if (before["lapsed_at"] !== null && row["lapsed_at"] !== before["lapsed_at"]) broken.push("H2: an incarnation dies once");
      if (before["lapsed_at"] === null && row["lapsed_at"] !== null && !namesBeat(step, row)) broken.push("H2: a lapse is at the beat that was seen");
    }
    if (table === "run_events") {
      const run = text(row, "run_id");
      touched.add(run);
      const log = shadow.events.get(run) ?? [];
      if (count(row, "seq") !== log.length - 1) broken.push(`I3: sequences are dense (run ${run.slice(0, 8)}, ${step.name}: ${String(row["seq"])} after ${log.length - 2})`);
      if (log.slice(0, -1).some((one) => ends.has(text(one, "type")))) broken.push(`I3: nothing after the terminal event (run ${run.slice(0, 8)}, ${step.name})`);
      if (isEnded(stood.get(run))) broken.push(`I3: the log of a run that has ended is closed (run ${run.slice(0, 8)}, ${step.name})`);
    }
  }
  broken.push(...judgeCompany(step));
  for (const { table, op, row } of changes) {
    if (table !== "run_events" || op === "D") continue;
    const run = text(row, "run_id");
    const allowed = fences.get(run) ?? new Set([count(shadow.runs.get(run), "fence")]);
    if (step.name !== "runs.fork" && !allowed.has(count(row, "fence"))) broken.push(`I2: no line of the log under an old fence (run ${run.slice(0, 8)}, ${step.name})`);
  }
  for (const run of touched) broken.push(...judgeWhole(shadow, run, step));
  return [...new Set(broken)];
}

const ends = new Set(["run.completed", "run.failed", "run.cancelled"]);

/** A row is taken out of the way by who has it, after five refusals of its own. */
function judgeIsolation({ values }: Step, row: Row, { isGuilty }: Facts): string[] {
  const broken: string[] = [];
  const law = (holds: boolean, name: string): void => { if (!holds) broken.push(`${name} (${text(row, "run_id").slice(9, 18)})`); };
  law(row["taken_by"] === values[0], "a row is isolated by who has it");
  law(count(row, "tries") >= 5, "a row is isolated after five tries");
  law(isGuilty(text(row, "run_id")), "only a row that the broker refuses by itself is isolated");
  return broken;
}

/** What retention may take: an ended run that nobody pins and whose dead letter is past its time. */
function judgePurge(shadow: Shadow, step: Step, row: Row): string[] {
  const broken: string[] = [];
  const law = (holds: boolean, name: string): void => { if (!holds) broken.push(`${name} (run ${text(row, "id").slice(9, 18)}, ${step.name})`); };
  const [, keepMs, graceMs] = step.values as [unknown, number, number];
  const letter = shadow.letters.get(text(row, "id"));
  law(step.name === "retention.purge_runs", "only retention takes a run away");
  law(isEnded(row) && instant(row, "finished_at") <= step.nowMs - keepMs, "retention takes only what ended long enough ago");
  law(row["pinned_until"] === null || instant(row, "pinned_until") <= step.nowMs, "retention takes nothing that is pinned");
  law(letter === undefined || instant(letter, "expires_at") + graceMs <= step.nowMs, "retention takes no run whose dead letter is within its time");
  return broken;
}

/** One attempt after the other, and none after a completion. */
function judgeNode({ before, after }: { before: Row; after: Row }, { name }: Step, { cut }: Shadow): string[] {
  const [was, is] = [text(before, "status"), text(after, "status")];
  const grew = count(after, "attempts") - count(before, "attempts");
  const broken: string[] = [];
  const law = (holds: boolean, rule: string): void => { if (!holds) broken.push(`${rule} (${text(after, "run_id").slice(9, 18)}/${text(after, "node_id")}, ${name}: ${was} to ${is})`); };
  law(was !== "completed" || is === "completed", "a completed node never runs again");
  law(grew === 0 || grew === 1, "I9: an attempt is counted once");
  const wasCut = cut.has(`${text(after, "run_id")}/${count(after, "fence")}`); // by a pause that was taken back: no event tells of it
  law(wasCut || !(name === "runs.progress" && was === "started" && is === "started" && grew > 0), "an attempt begins only after the one before has ended");
  law(!(was === "suspended" && is === "started" && grew > 0), "a suspended attempt goes on under its number");
  return broken;
}

/** H15: a claim brings no isolated run into more company than it may have, of what its holder knows. */
function judgeCompany({ name, values, outcome }: Step): string[] {
  if (name !== "runs.claim" && name !== "runs.sweep") return [];
  const claimed = outcome.changes.filter(({ table, row }) => table === "runs" && row["owner"] !== null).map(({ row }) => row);
  const company = Number(values[4]) + claimed.length;
  return claimed.flatMap((run) => (typeof run["cohort_limit"] === "number" && run["cohort_limit"] < company
    ? [`H15: an isolated run is claimed into a company of at most ${run["cohort_limit"]} (${text(run, "id").slice(0, 8)}: ${company})`] : []));
}

/** What must hold of a run's rows together, after every step that touched one of them. */
function judgeWhole(shadow: Shadow, id: string, step: Step): string[] {
  const run = shadow.runs.get(id);
  const broken: string[] = [];
  const law = (holds: boolean, name: string): void => { if (!holds) broken.push(`${name} (run ${id.slice(0, 8)}, ${step.name})`); };
  if (run === undefined) return broken;
  const log = shadow.events.get(id) ?? [];
  law(count(run, "event_seq") === log.length, "I3: the run counts its log");
  law(isEnded(run) === log.some((one) => ends.has(text(one, "type"))), "I3: one terminal event, told with the end");
  law(run["status"] !== "failed" || shadow.letters.has(id), "I6: a failed run has its dead letter");
  for (const [key, node] of shadow.nodes) {
    if (!key.startsWith(id)) continue;
    const told = log.filter((one) => one["type"] === "node.started" && one["node_id"] === node["node_id"]).length;
    law(told === count(node, "attempts"), `I9: every attempt is told (${text(node, "node_id")}: ${told} of ${count(node, "attempts")})`);
  }
  if (!isEnded(run)) {
    const open = [...shadow.effects.values()].filter((effect) => effect["run_id"] === id && effect["state"] === "launched" && effect["class"] !== "read_only").length;
    law(open === count(run, "open_effects"), `H3: the run mirrors its open effects (${count(run, "open_effects")} of ${open})`);
  }
  return broken;
}

/** What is acknowledged is stored, and a repeat is answered as the first time. */
function judgeAnswers(shadow: Shadow, { name, values, outcome }: Step): string[] {
  const broken: string[] = [];
  const rows = outcome.rows as Record<string, unknown>[];
  if (name === "runs.progress") {
    const items = JSON.parse(String(values[0])) as { id: string; write_id: string }[];
    for (const { id, write_id: writeId } of items) {
      const verdict = rows.find((row) => row["id"] === id)?.["verdict"];
      const stored = outcome.changes.some(({ table, row }) => table === "runs" && row["id"] === id && row["write_id"] === writeId);
      const before = shadow.runs.get(id)?.["write_id"] === writeId;
      if (verdict === "done" && !stored && !before) broken.push(`what is acknowledged is stored (run ${id.slice(0, 8)}, ${name})`);
      if (before && verdict !== "done" && verdict !== "busy") broken.push(`H13: a repeat answers the same (run ${id.slice(0, 8)}, ${name}: ${String(verdict)})`);
    }
  }
  if (name === "runs.claim") {
    const [ids, claimIds, owner] = values as [string[], string[], string];
    ids.forEach((id, i) => {
      const run = shadow.runs.get(id);
      const verdict = rows.find((row) => row["asked"] === id)?.["verdict"];
      if (run?.["owner"] === owner && run["claim_id"] === claimIds[i] && verdict !== "claimed_before" && verdict !== "busy") broken.push(`H13: a repeated claim is recognised (run ${id.slice(0, 8)}: ${String(verdict)})`);
    });
  }
  // the broker of the simulation is there always: what it refuses together is tried in halves
  if (name === "outbox.put_back" && values[2] === false) broken.push("only a row that the broker refuses by itself is given back while it is there");
  if (name === "runs.accept") {
    for (const { id, born } of rows) {
      if (born !== true || shadow.runs.has(String(id))) continue;
      if (!outcome.changes.some(({ table, row }) => table === "runs" && row["id"] === id)) broken.push(`what is acknowledged is stored (run ${String(id)})`);
      if (!outcome.changes.some(({ table, row }) => table === "outbox" && row["run_id"] === id)) broken.push("an accept leaves an outbox row");
    }
  }
  return broken;
}

/** A copied log comes in any order: its events are looked at in theirs. */
const inOrder = (changes: readonly Change[]): Change[] =>
  [...changes].sort((one, other) => (one.table === "run_events" && other.table === "run_events" && one.row["run_id"] === other.row["run_id"] ? count(one.row, "seq") - count(other.row, "seq") : 0));

function namesBeat({ name, values }: Step, row: Readonly<Record<string, unknown>>): boolean {
  if (name !== "incarnations.lapse") return true;
  const [ids, beats] = values as [string[], string[]];
  return ids.some((id, i) => id === row["id"] && beats[i] === String(row["beat_no"]));
}

function expected({ name }: Step, error: Error): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code !== undefined && contention.has(code)) return code !== "40P01";
  if (name === "runs.accept") return constraint === "runs_live_scope" || code === "22P05" || code === "22P02";
  return name === "ops_events.stamp" && code === "23505";
}
