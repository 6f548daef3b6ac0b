import { judgeStep } from "../laws/judge-step.js";
import type { Ledger } from "../laws/create-ledger.js";
import { text, type Shadow } from "../laws/shadow.js";
import type { Facts } from "../laws/step.js";
import type { Outcome } from "../postgres/change.js";
import type { Link, Sent } from "../postgres/open-link.js";
import { realImmediate } from "./time.js";
import { dropDead, timedOut, type Call, type World } from "./world.js";
import type { Weather } from "./weather.js";

/** The scheduler: each turn one thing happens, a statement, a passing of time, a ticket that rings. */
export type Steps = {
  turn: () => Promise<void>;
  /** Lets all code run until it waits for a statement or for time. */
  settle: () => Promise<void>;
  calm: () => void;
  count: () => number;
  statements: () => number;
  /** The code of an ended seed goes nowhere any more. */
  forsake: () => Promise<void>;
};

/** Verbs that must never wait for a row. */
const neverWaits: Readonly<Record<string, true>> = {
  "runs.claim": true, "runs.sweep": true, "runs.progress": true, "effects.launch": true, "effects.settle": true, "runs.hand_back": true, "runs.take_over": true,
  "runs.suspect": true, "runs.enforce_stops": true, "runs.enforce_deadlines": true, "incarnations.lapse": true, "outbox.take": true,
};
/** Statements worth a race: what moves a run, an effect or an incarnation. */
const racers = /^runs\.(?!audit|load|classify)|^outbox\.(take|isolate)$|^retention\.purge_runs$|^sim\.pin$|^effects\.(launch|relaunch|settle)|^incarnations\.(lapse|beat)$/;
const pausable = /^runs\.(claim|sweep|progress|hand_back|take_over|suspect|enforce_stops|enforce_deadlines|request_stop|request_pause|unpause|fork)$|^outbox\.isolate$|^retention\.purge_runs$|^effects\.(launch|relaunch|settle)$|^incarnations\.(lapse|beat)$/;
const brokenConnection = (): Error => new Error("Connection terminated unexpectedly");
const deadlock = (): Error => Object.assign(new Error("canceling statement due to lock timeout"), { code: "55P03" });

type Parts = {
  world: World; link: Link; shadow: Shadow; facts: Facts; ledger: Ledger; weather: Weather; broke: (law: string) => void;
  /** Somebody acts on what a statement under way names. */
  provoke: (call: Call) => void;
};

export function createSteps({ world, link, shadow, facts, ledger, weather, broke, provoke }: Parts): Steps {
  const { chance, time } = world;
  let steps = 0;
  let statements = 0;
  let calm = false;

  const macrotask = (): Promise<void> => new Promise((resolve) => { realImmediate(resolve); });
  const settle = async (): Promise<void> => {
    for (;;) {
      await macrotask();
      const act = time.takeImmediate() ?? time.takeDue();
      if (act === undefined) break;
      act();
    }
    dropDead(world);
  };
  const sentOf = (call: Call): Sent => ({ statement: call.statement, values: call.values, pid: call.session?.pid ?? 0 });
  const short = (call: Call): string => `${call.process?.name ?? "?"} ${call.statement.name} ${brief(call)}`;
  const judge = (call: Call, outcome: Outcome, raced: boolean): void => {
    statements += 1;
    for (const law of judgeStep(shadow, { name: call.statement.name, values: call.values, outcome, raced, nowMs: time.databaseNow() }, facts)) broke(law);
    for (const { table, row } of outcome.changes) if (table === "run_nodes" && row["status"] === "suspended") ledger.suspended(text(row, "run_id"), text(row, "node_id"));
  };
  const give = (call: Call, outcome: Outcome): void => {
    const delayMs = !calm && chance.flip(weather.lateReply) ? 1 + chance.below(chance.flip(0.1) ? 2_400 : 300) : 0;
    world.answer(call, outcome.error === undefined ? { rows: outcome.rows } : { error: outcome.error }, delayMs);
  };
  const execute = async (call: Call): Promise<void> => {
    if (call.statement.name === "incarnations.doubt") {
      await link.showSessions([...world.sessions].map(({ pid, openedAt, locks }) => ({ pid, openedAt, locks: [...locks] })));
    }
    const lot = calm ? 1 : chance.next();
    const { lostBefore, contention, lostReply } = weather;
    if (lot < lostBefore) {
      world.note(`${stamp()} ${short(call)} → lost before it was sent`);
      world.answer(call, { error: brokenConnection() });
    } else if (lot < lostBefore + contention) {
      world.note(`${stamp()} ${short(call)} → contention`);
      world.answer(call, { error: deadlock() });
    } else {
      const outcome = await link.execute(sentOf(call), time.databaseNow());
      const lost = lot < lostBefore + contention + lostReply;
      world.note(`${stamp()} ${short(call)} → ${told(outcome)}${lost ? ", its reply is lost" : ""}`);
      judge(call, outcome, false);
      if (lost) world.answer(call, { error: brokenConnection() }, chance.flip(0.3) ? chance.below(500) : 0);
      else give(call, outcome);
    }
  };
  const overlap = async (first: Call, second: Call): Promise<void> => {
    const commit = chance.flip(0.8);
    const seen = await link.overlap({ first: sentOf(first), second: sentOf(second), commit }, time.databaseNow());
    world.note(`${stamp()} ${short(first)} is open while`);
    world.note(`${stamp()} ${short(second)} is sent and ${seen.waited ? "waits" : "ends"} → ${told(seen.second)}`);
    world.note(`${stamp()} ${short(first)} ${commit ? "commits" : "dies before its commit"} → ${told(seen.first)}`);
    if (seen.forRow && neverWaits[second.statement.name] === true) broke(`H13: no batched verb waits for a row (${second.statement.name} behind ${first.statement.name})`);
    const order: [Call, Outcome][] = seen.waited ? [[first, seen.first], [second, seen.second]] : [[second, seen.second], [first, seen.first]];
    for (const [call, outcome] of order) if (call !== first || commit) judge(call, outcome, true);
    if (commit) give(first, seen.first);
    else world.answer(first, { error: brokenConnection() });
    give(second, seen.second);
  };
  const pause = async (paused: Call, meanwhile: Call): Promise<void> => {
    const seen = await link.pause({ paused: sentOf(paused), meanwhile: sentOf(meanwhile) }, time.databaseNow());
    world.note(`${stamp()} ${short(paused)} pauses before its lock`);
    world.note(`${stamp()} ${short(meanwhile)} → ${told(seen.meanwhile)}`);
    world.note(`${stamp()} ${short(paused)} goes on → ${told(seen.paused)}`);
    judge(meanwhile, seen.meanwhile, false);
    judge(paused, seen.paused, true);
    give(meanwhile, seen.meanwhile);
    give(paused, seen.paused);
  };
  /** Two that may meet on a row. */
  const pair = (): [Call, Call] | undefined => {
    const able = world.calls.filter(({ statement }) => racers.test(statement.name));
    const pairs = able.flatMap((first) => able.filter((second) => second !== first && meets(first, second)).map((second): [Call, Call] => [first, second]));
    return pairs.length === 0 ? undefined : chance.pick(pairs);
  };
  /** One that is under way, and one that is sent because of it: what meets rarely by itself meets here. */
  const provoked = async (): Promise<[Call, Call] | undefined> => {
    const able = world.calls.filter(({ statement }) => pausable.test(statement.name));
    if (able.length === 0) return undefined;
    const first = chance.pick(able);
    const before = new Set(world.calls);
    provoke(first);
    await settle();
    const second = world.calls.find((call) => !before.has(call) && racers.test(call.statement.name) && meets(first, call));
    if (second === undefined || !world.calls.includes(first)) return undefined;
    return pausable.test(second.statement.name) && chance.flip(0.5) ? [second, first] : [first, second];
  };
  const expire = async (): Promise<void> => {
    for (const call of world.calls.filter(({ expiresAt }) => expiresAt <= time.now())) {
      if (chance.flip(0.3)) judge(call, await link.execute(sentOf(call), time.databaseNow()), false);
      world.note(`${stamp()} ${short(call)} → no answer in time`);
      world.answer(call, { error: timedOut(call) });
    }
  };
  const ring = (): void => {
    const { broker } = world;
    const at = chance.below(broker.tickets.length);
    const [ticket] = broker.tickets.splice(at, 1);
    if (ticket === undefined) return;
    if (!calm && chance.flip(weather.ticketLost)) { world.note(`${stamp()} a ticket is lost`); return; }
    const twice = !calm && chance.flip(weather.ticketTwice);
    const atOnce = twice && chance.flip(0.5);
    if (twice && !atOnce) broker.tickets.push(ticket);
    const able = broker.consumers.filter(({ process, options }) => process?.frozen === false && options.freeSlots() > 0);
    if (able.length === 0) { broker.tickets.push(ticket); return; }
    const { process, options } = chance.pick(able);
    world.note(`${stamp()} a ticket of ${ticket.runs.map((run) => run.slice(9, 18)).join(", ")} rings at ${process?.name ?? "?"}`);
    const run = (): void => { void options.onTicket([...ticket.runs]).catch(() => undefined); };
    for (let rings = atOnce ? 2 : 1; rings > 0 && process !== undefined; rings--) time.after(0, run, process);
  };
  const pass = (): void => {
    const next = time.nextAt();
    const left = Number.isFinite(next) ? Math.max(0, next - time.now()) : 100;
    time.pass(left > 20 && chance.flip(0.2) ? Math.ceil(left * chance.next()) : left);
  };
  const stamp = (): string => String(Math.round(time.now())).padStart(7);

  return {
    settle, count: () => steps, statements: () => statements,
    calm: () => { calm = true; },
    turn: async () => {
      steps += 1;
      const held = world.calls.length;
      const canRing = world.broker.up && world.broker.tickets.length > 0 && world.broker.consumers.length > 0;
      // a few statements under way make races; many are worked off
      const passes = held === 0 || chance.flip(held < 3 && !calm ? 0.25 : 0.04);
      if (canRing && chance.flip(0.4)) ring();
      else if (passes) pass();
      else {
        const lot = calm ? 1 : chance.next();
        const two = lot < weather.overlap + weather.pause ? (chance.flip(0.4) ? await provoked() : undefined) ?? pair() : undefined;
        if (world.calls.length === 0) return; // what was under way went with what was provoked
        if (two === undefined) await execute(chance.pick(world.calls));
        else if (lot < weather.pause && pausable.test(two[0].statement.name)) await pause(...two);
        else await overlap(...two);
        time.pass(chance.below(3));
      }
      await settle();
      await expire();
      await settle();
    },
    forsake: async () => {
      world.calls = [];
      await macrotask();
    },
  };
}

/** The runs that a statement names, which have ids of version 7. */
export const idsIn = (call: Call): string[] => JSON.stringify(call.values).match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}/g) ?? [];
/** The effects that it names: one of them may belong to several runs. */
const effectsIn = (call: Call): string[] => {
  if (call.statement.name === "effects.relaunch") return [String(call.values[1])];
  return call.statement.name.startsWith("effects.") ? [...JSON.stringify(call.values).matchAll(/\\"(?:effect_id|identity)\\":\\"([0-9a-f-]+)/g)].map(([, id]) => id ?? "") : [];
};
const ofLives = (call: Call): boolean => call.statement.name.startsWith("incarnations.");
function meets(one: Call, other: Call): boolean {
  if (ofLives(one) !== ofLives(other)) return false;
  const mine = idsIn(one);
  const theirs = idsIn(other);
  const shared = effectsIn(one);
  if (shared.length > 0 && effectsIn(other).some((id) => shared.includes(id))) return true;
  return mine.length === 0 || theirs.length === 0 || mine.some((id) => theirs.includes(id));
}

function brief(call: Call): string {
  return [...new Set(idsIn(call))].map((id) => id.slice(9, 18)).join(",");
}

function told({ rows, error }: Outcome): string {
  if (error !== undefined) return `error: ${error.message}`;
  const [first] = rows as Record<string, unknown>[];
  if (first === undefined) return "nothing";
  const facts = ["verdict", "status", "born", "held", "fence", "lapsed", "beatNo", "launch_no"].filter((name) => name in first).map((name) => `${name} ${String(first[name])}`);
  return `${rows.length} row${rows.length === 1 ? "" : "s"} ${facts.join(" ")}`.trim();
}
