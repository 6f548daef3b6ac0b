import { recoveryBounds } from "@mainstay/config";
import type { NewRun } from "@mainstay/database";
import { createOutsideWorld } from "../actors/outside-world.js";
import { createStray } from "../actors/create-stray.js";
import { limitsOf, workerConfig } from "../actors/settings.js";
import { startApiProcess } from "../actors/start-api-process.js";
import { startRelayProcess } from "../actors/start-relay-process.js";
import { startSupervisorProcess } from "../actors/start-supervisor-process.js";
import { startWorkerProcess, type SimWorker } from "../actors/start-worker-process.js";
import { sampleWorkflows } from "../actors/workflows.js";
import { createLedger } from "../laws/create-ledger.js";
import { count, createShadow, instant, isEnded, isGone, text } from "../laws/shadow.js";
import type { Facts } from "../laws/step.js";
import type { Link } from "../postgres/open-link.js";
import { createChance } from "./chance.js";
import { createFaults } from "./create-faults.js";
import { createSteps, idsIn } from "./create-steps.js";
import { judgeForks } from "../laws/judge-forks.js";
import { judgeRest } from "../laws/judge-rest.js";
import { currentProcess, isDead, type SimProcess } from "./process.js";
import { createTime } from "./time.js";
import { drawWeather } from "./weather.js";
import { createWorld } from "./world.js";

/** What became of a seed: the laws it broke, its interleaving, and what it cost. */
export type SeedResult = { seed: number; weather: string; broken: string[]; lines: string[]; steps: number; statements: number; executions: number; faults: number };

/** Faults end after so many turns of the scheduler; then everybody must come to rest. */
const TURNS = 130;
/** In calm weather everything must have ended after so long. Simulated milliseconds. */
const REST_WITHIN_MS = 150_000;
const MOST_STEPS = 6_000;
/** As the settings have it. */
const SEND_GRACE_MS = 250;

/** Plays one seed to its end: a fleet under faults, then without, every statement a step and every step judged. */
export async function runSeed(link: Link, seed: number): Promise<SeedResult> {
  await link.clear();
  const chance = createChance(seed);
  const weather = drawWeather(chance);
  const time = createTime();
  const lines: string[] = [];
  const broken: string[] = [];
  const note = (line: string): void => { lines.push(line); };
  const broke = (law: string): void => {
    if (broken.includes(law)) return;
    broken.push(law);
    note(`!!!!! ${law}`);
  };
  const world = createWorld({ chance, time, note });
  const takeBack = time.install(chance.next);
  const shadow = createShadow();
  const outside = createOutsideWorld(chance, time, {
    ...weather.outside,
    leaves: (identity, launch) => {
      const effect = [...shadow.effects.values()].find((one) => text(one, "identity") === `\\x${identity}`);
      const lateMs = time.databaseNow() - instant(effect, "launched_at");
      if (weather.clockStep === 0 && count(effect, "launch_no") === launch && lateMs > SEND_GRACE_MS + 2) broke(`H6: a request leaves within the send grace of its launch (${identity.slice(0, 12)}: ${lateMs} ms)`);
    },
  });
  const poison = new Map<string, number>();
  const config = workerConfig(weather.broker);
  const ledger = createLedger(shadow, broke, config.slots);
  const served = new Map<string, readonly string[]>();
  const bodies = new Map<string, SimProcess>();
  const limits = limitsOf(config);
  const workflows = sampleWorkflows({
    outside, below: chance.below,
    rest: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    begins: (context, node) => {
      const run = context.run.id.split("/")[1] ?? "";
      note(`      ${currentProcess()?.name ?? "?"} executes ${run.slice(9, 18)}/${node} attempt ${context.attempt} fence ${context.fence}`);
      ledger.begins({ run, node, attempt: context.attempt, fence: context.fence });
    },
    crash: () => { faults.killProcess(currentProcess(), "poison"); },
    poisonOf: (run) => {
      const times = poison.get(run) ?? 1 + chance.below(4);
      poison.set(run, times);
      return times;
    },
  });
  const facts: Facts = {
    isHale: (incarnation) => {
      const body = bodies.get(incarnation);
      return weather.name === "outage" && body !== undefined && !isDead(body);
    },
    isGuilty: (run) => world.broker.guilty.has(run),
    servedBy: (incarnation) => served.get(incarnation) ?? [], actsOf: outside.actsOf, limits, cancelGraceMs: config.cancelGraceMs,
  };
  const goneOf = (incarnation: string): boolean => {
    const body = bodies.get(incarnation);
    const row = shadow.incarnations.get(incarnation);
    return body === undefined || isDead(body) || isGone(row) || typeof row?.["draining_at"] === "string";
  };
  const accepted = new Map<string, NewRun>();
  const steps = createSteps({ world, link, shadow, facts, ledger, weather, broke, provoke: (call) => { faults.provoke(call.statement.name, idsIn(call)); } });
  const workers: SimWorker[] = [];
  const others: { supervisor?: SimProcess; relay?: SimProcess } = {};
  let started = 0;
  const bear = (whole: boolean): void => {
    const all = [...workflows.values()];
    workers.push(startWorkerProcess({
      world, name: `worker${(started += 1)}`, broker: weather.broker, workflows: whole ? all : all.filter(({ workflow }) => workflow.document.id !== "fan"),
      onBegun: (incarnation, serves, process) => {
        served.set(incarnation, serves);
        bodies.set(incarnation, process);
      },
    }));
  };
  const api = startApiProcess({
    world, name: "api",
    onForked: (id, { kind }) => {
      note(`      api answers ${kind} for the fork ${id.slice(9, 18)}`);
      if (kind === "created" && !shadow.runs.has(id) && !shadow.purged.has(id)) broke(`what is acknowledged is stored (fork ${id.slice(9, 18)})`);
    },
    onAnswer: (run, answer) => {
      note(`      api answers ${answer.kind} for ${run.id.slice(9, 18)} (${run.workflowId})`);
      if (answer.kind === "created") {
        if (!shadow.runs.has(run.id) && !shadow.purged.has(run.id)) broke(`what is acknowledged is stored (accept of ${run.id.slice(9, 18)})`);
        accepted.set(run.id, run);
      }
      if (answer.kind === "rejected" && !run.input.includes("\\u0000") && !/locked by others|Connection terminated|no answer within|locked|timeout/.test(String(answer.error))) broke(`a run is not refused for its neighbour's sake (${String(answer.error).slice(0, 80)})`);
    },
  });
  const stray = createStray({ world, shadow, limits, heartbeatMs: config.heartbeatMs, cancelGraceMs: config.cancelGraceMs, actsOf: outside.actsOf });
  const faults = createFaults({ world, weather, workers, others, bear, api, shadow, stray, workflows, steps });

  try {
    note(`seed ${seed}: ${weather.name}, ${weather.workers} workers, ${weather.runs} runs, broker ${weather.broker}${weather.supervisor ? ", supervisor" : ""}${weather.relay ? ", relay" : ""}`);
    for (let i = 0; i < weather.workers; i++) bear(i === 0 || chance.flip(0.8));
    if (weather.supervisor) others.supervisor = startSupervisorProcess({ world, name: "supervisor" });
    if (weather.relay && weather.broker === "redis") others.relay = startRelayProcess({ world, name: "relay" });
    await steps.settle();
    world.slowConnect = weather.slowConnect;
    for (let turn = 0; turn < (world.broker.guilty.size > 0 ? 3 : 1) * TURNS && broken.length === 0; turn++) {
      faults.befall();
      await steps.turn();
    }
    faults.heal();
    note("----- calm");
    const calmSince = time.now();
    const rest = judgeRest({ shadow, world, bounds: recoveryBounds(config), broke, slots: config.slots, live: () => new Map([...served].filter(([id]) => !goneOf(id))) });
    while (broken.length === 0 && time.now() - calmSince < REST_WITHIN_MS && steps.count() < MOST_STEPS) {
      if (steps.count() % 25 === 0) faults.letGo();
      await steps.turn();
      rest.look();
      if ([...shadow.runs.values()].every(isEnded) && world.calls.every(({ statement }) => !statement.name.startsWith("runs.") || statement.name === "runs.audit")) break;
    }
    if (broken.length === 0) {
      for (const run of shadow.runs.values()) if (!isEnded(run)) broke(`I1: every run ends (${String(run["id"]).slice(9, 18)}: ${String(run["status"])} on ${String(run["waiting_on"])}, due ${String(run["due_at"])}, owner ${String(run["owner"])})`);
      for (const id of accepted.keys()) if (!shadow.runs.has(id) && !shadow.purged.has(id)) broke(`what is acknowledged is stored (${id.slice(9, 18)})`);
      for (const law of judgeForks(shadow)) broke(law);
      for (const identity of outside.doubles()) if (!shadow.forgotten.has(identity)) broke(`I4: an unsafe effect happens at most once (${identity.slice(0, 12)})`);
    }
    await steps.forsake();
  } finally {
    takeBack();
  }
  return { seed, weather: weather.name, broken, lines, steps: steps.count(), statements: steps.statements(), executions: ledger.began(), faults: faults.count() };
}
