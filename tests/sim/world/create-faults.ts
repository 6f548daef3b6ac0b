import type { SimApi } from "../actors/start-api-process.js";
import { startRelayProcess } from "../actors/start-relay-process.js";
import { startSupervisorProcess } from "../actors/start-supervisor-process.js";
import type { SimWorker } from "../actors/start-worker-process.js";
import type { SampleWorkflow } from "../actors/workflows.js";
import type { Stray } from "../actors/create-stray.js";
import type { Steps } from "./create-steps.js";
import { count, isEnded, text, type Shadow } from "../laws/shadow.js";
import { isDead, thaw, type SimProcess } from "./process.js";
import type { Weather } from "./weather.js";
import type { World } from "./world.js";

/** What befalls the fleet, as the seed's weather wants it. */
export type Faults = {
  /** Before each turn of the scheduler: runs are asked for, and now and then something breaks. */
  befall: () => void;
  killProcess: (process: SimProcess | undefined, why: string) => void;
  /** Somebody, an operator or a stray, acts on what a statement under way is about, and the runs that it names. */
  provoke: (statement: string, runIds: readonly string[]) => void;
  /** Nothing breaks any more; what stood still goes on, and there is at least one capable worker. */
  heal: () => void;
  /** In calm weather: what is paused, or asked to be, is let go on, and there is always one who takes runs. */
  letGo: () => void;
  count: () => number;
};

type Parts = {
  world: World; weather: Weather; workers: SimWorker[]; others: { supervisor?: SimProcess; relay?: SimProcess };
  bear: (whole: boolean) => void; api: SimApi; shadow: Shadow; stray: Stray; workflows: ReadonlyMap<string, SampleWorkflow>; steps: Steps;
};

export function createFaults({ world, weather, workers, others, bear, api, shadow, stray, workflows, steps }: Parts): Faults {
  const { chance, time, broker } = world;
  const asked: string[] = [];
  let left = weather.runs;
  let calm = false;
  let happened = 0;
  const kinds = new Set([...workflows.values()].map(({ pinned }) => pinned.requires)).size;
  const draining = new Set<SimProcess>();
  const live = (): SimWorker[] => workers.filter(({ process }) => !isDead(process));
  /** Those that still take runs. */
  const able = (): SimWorker[] => live().filter(({ process }) => !draining.has(process));
  const say = (what: string): void => {
    happened += 1;
    world.note(`***** ${String(Math.round(time.now())).padStart(7)} ${what}`);
  };

  const killProcess: Faults["killProcess"] = (process, why) => {
    if (process === undefined || isDead(process)) return;
    say(`${process.name} dies (${why})`);
    process.dead = true;
    // what it had sent is executed all the same, or never arrives
    world.calls = world.calls.filter((call) => {
      if (call.process === undefined || !isDead(call.process)) return true;
      return chance.flip(0.3) && call.statement.name !== "incarnations.doubt" ? (orphans.push({ ...call, process: undefined, resolve: () => {}, reject: () => {} }), false) : false;
    });
    world.calls.push(...orphans.splice(0));
    time.after(chance.below(300), () => { world.endSessionsOf(process, "the process is gone"); });
    if (!calm || able().length === 0) time.after(200 + chance.below(3_000), () => { if (able().length < (calm ? 1 : weather.workers)) bear(true); });
  };
  const orphans: World["calls"] = [];

  const freeze = (process: SimProcess, ms: number, how: string): void => {
    say(`${process.name} ${how} for ${ms} ms`);
    process.frozen = true;
    time.after(ms, () => { if (!isDead(process) && process.frozen) { say(`${process.name} goes on`); thaw(process); } });
  };
  const sessionsOf = (process: SimProcess): SimProcess[] => [...new Set([...world.sessions].flatMap(({ process: owner }) => (owner?.parent === process ? [owner] : [])))];

  const ask = (): void => {
    left -= 1;
    const favoured = [...workflows.values()].filter(({ workflow: { document } }) => weather.favours.includes(document.id));
    const workflow = chance.pick(favoured.length > 0 && chance.flip(0.7) ? favoured : [...workflows.values()]);
    const order = `o${chance.below(2)}`;
    const key = chance.flip(0.4) ? `k${chance.below(3)}` : undefined;
    const id = api.accept(workflow, { order, ...(key === undefined ? {} : { key }) });
    asked.push(id);
    if (chance.flip(weather.guilty)) broker.guilty.add(id);
    if (chance.flip(0.15)) api.accept(workflow, { order, unstorable: true });
    if (chance.flip(0.3) && left > 0) {
      left -= 1;
      asked.push(api.accept(workflow, { order }));
    }
  };

  /** A run that a statement under way names, more often than not: there it may meet. */
  const target = (): string => {
    const named = asked.filter((id) => world.calls.some(({ values }) => JSON.stringify(values).includes(id)));
    return named.length > 0 && chance.flip(0.8) ? chance.pick(named) : chance.pick(asked);
  };
  const isPaused = (id: string): boolean => shadow.runs.get(id)?.["status"] === "paused" || shadow.runs.get(id)?.["stop_requested"] === "pause";
  const operate = (): void => {
    const id = chance.flip(0.4) ? asked.find(isPaused) ?? target() : target();
    if (isPaused(id) || chance.flip(0.1)) {
      say(`${id.slice(9, 18)} is told to go on`);
      api.resume(id);
    } else {
      const drain = chance.flip(0.5) ? "immediate" as const : "drain-current-node" as const;
      say(`${id.slice(9, 18)} is asked to pause (${drain})`);
      api.pause(id, drain);
    }
  };
  const fork = (): void => {
    const ended = asked.filter((id) => isEnded(shadow.runs.get(id)));
    forkOf(ended.length > 0 && chance.flip(0.6) ? chance.pick(ended) : target());
  };
  const forkOf = (sourceId: string): void => {
    const log = shadow.events.get(sourceId) ?? [];
    const workflow = workflows.get(text(shadow.runs.get(sourceId), "workflow_id"));
    if (workflow === undefined || log.length === 0) return;
    const fromSeq = chance.below(log.length);
    const mode = chance.flip(0.5) ? "replay" as const : "branch" as const;
    const events = log.slice(0, fromSeq).map((row) => ({ type: text(row, "type"), sequence: count(row, "seq"), ...(row["node_id"] === null ? {} : { nodeId: text(row, "node_id") }) }));
    const id = api.fork({ sourceId, workflow, mode, fromSeq, events });
    say(`${sourceId.slice(9, 18)} is forked at ${fromSeq} (${mode}) as ${id.slice(9, 18)}`);
    asked.push(id);
  };

  const provoke: Faults["provoke"] = (statement, runIds) => {
    if (statement.startsWith("outbox.")) { stray.takeRows(); return; }
    if (statement === "runs.fork" && chance.flip(0.6)) { stray.tidy(); return; }
    const known = runIds.filter((id) => shadow.runs.has(id));
    if (known.length === 0) return;
    const id = chance.pick(known);
    if (shadow.runs.get(id)?.["deadline_at"] !== null && chance.flip(0.3)) { stray.enforce(); return; }
    if (statement === "runs.progress" && chance.flip(0.3)) { forkOf(id); return; }
    if (statement.startsWith("effects.") && chance.flip(0.6)) {
      if (chance.flip(0.6)) stray.testify(known);
      else stray.handBack(id);
      return;
    }
    switch (chance.below(6)) {
      case 0: say(`${id.slice(9, 18)} is asked to stop`); api.cancel(id); break;
      case 1: say(`${id.slice(9, 18)} is asked to pause`); api.pause(id, chance.flip(0.5) ? "immediate" : "drain-current-node"); break;
      case 2: say(`${id.slice(9, 18)} is told to go on`); api.resume(id); break;
      case 3: stray.testify(known); break;
      default: stray.meet([id]);
    }
  };

  return {
    killProcess, provoke, count: () => happened,
    letGo: () => {
      // a process that could not start is started again by its platform
      if (able().length === 0) bear(true);
      // one that has a deadline ends by it, paused or not
      for (const [id, run] of shadow.runs) if (isPaused(id) && run["deadline_at"] === null) api.resume(id);
    },
    befall: () => {
      if (left > 0 && chance.flip(0.15)) ask();
      const worker = (): SimWorker | undefined => { const all = live(); return all.length === 0 ? undefined : chance.pick(all); };
      if (chance.flip(weather.kill)) killProcess(worker()?.process, "SIGKILL");
      if (weather.kill > 0 && chance.flip(weather.kill / 4) && others.relay !== undefined && !isDead(others.relay)) {
        killProcess(others.relay, "SIGKILL");
        time.after(500, () => { others.relay = startRelayProcess({ world, name: "relay2" }); });
      }
      if (chance.flip(weather.freeze)) {
        const process = worker()?.process;
        if (process !== undefined && !process.frozen) {
          const ms = 300 + chance.below(7_000);
          for (const thread of sessionsOf(process)) freeze(thread, ms, "is frozen");
          freeze(process, ms, "is frozen");
        }
      }
      if (chance.flip(weather.wedge)) {
        const process = worker()?.process;
        if (process !== undefined && !process.frozen) freeze(process, 3_000 + chance.below(9_000), "is wedged");
      }
      // a drain, or a cancel, right between a claim and what it has to read first
      const loading = world.calls.find(({ statement, process }) => statement.name === "runs.load" && process !== undefined);
      const meetsLoad = weather.drain > 0 && loading !== undefined && chance.flip(0.2);
      if (meetsLoad || chance.flip(weather.drain)) {
        const one = meetsLoad ? live().find(({ process }) => process === loading.process) : worker();
        if (one !== undefined && live().length > 1) {
          say(`${one.process.name} is told to drain`);
          draining.add(one.process);
          one.drain();
          time.after(400 + chance.below(2_000), () => { bear(true); });
        }
      }
      if (chance.flip(weather.cutSession) && world.sessions.size > 0) {
        const session = chance.pick([...world.sessions]);
        if (session.process?.parent !== undefined) {
          const all = chance.flip(0.5);
          say(`${all ? "all sessions" : "a session"} of ${session.process.name} cut`);
          for (const one of all ? [...world.sessions].filter(({ process }) => process === session.process) : [session]) world.cut(one, "cut");
        }
      }
      if (chance.flip(weather.outage) && !world.outage) {
        const ms = 50 + chance.below(6_000);
        say(`the database is away for ${ms} ms`);
        world.outage = true;
        for (const call of [...world.calls]) world.answer(call, { error: new Error("Connection terminated unexpectedly") });
        for (const session of [...world.sessions]) if (session.process?.parent !== undefined) world.cut(session, "the server went away");
        time.after(ms, () => {
          world.outage = false;
          say("the database is back");
        });
      }
      if (chance.flip(weather.clockStep)) {
        const ms = chance.pick([-300_000, -2_000, 2_500, 4_000, 300_000]);
        say(`the database's clock is set by ${ms} ms`);
        time.stepDatabase(ms);
        if (chance.flip(0.5)) stray.lapse();
      }
      if (asked.length > 0 && chance.flip(weather.cancel)) {
        const run = target();
        say(`${run.slice(9, 18)} is asked to stop`);
        api.cancel(run);
      }
      if (asked.length > 0 && chance.flip(weather.operatorPause)) operate();
      if (asked.length > 0 && chance.flip(weather.fork)) fork();
      if (asked.length > 0 && chance.flip(weather.repeat)) broker.publish("default", [chance.pick(asked), chance.pick(asked)]);
      if (chance.flip(weather.stray)) stray.act();
      if (chance.flip(weather.tidy)) stray.tidy();
      if (chance.flip(weather.flush)) {
        say("the broker is flushed");
        broker.tickets.length = 0;
      }
    },
    heal: () => {
      calm = true;
      steps.calm();
      while (left > 0) ask();
      world.outage = false;
      world.hintsLost = 0;
      world.slowConnect = 0;
      time.putRight();
      for (const { process } of workers) if (!isDead(process)) { for (const thread of sessionsOf(process)) thaw(thread); thaw(process); }
      if (others.relay !== undefined && isDead(others.relay)) others.relay = startRelayProcess({ world, name: "relay3" });
      if (others.supervisor === undefined) others.supervisor = startSupervisorProcess({ world, name: "supervisor2" });
      // one that serves everything is enough: more of them only ask
      if (!live().some(({ serves, process }) => serves.length === kinds && !draining.has(process))) bear(true);
    },
  };
}
