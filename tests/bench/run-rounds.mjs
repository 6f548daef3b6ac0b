import { startSystem, systems } from "./systems/start-system.mjs";
import { accept } from "./workloads/accept.mjs";
import { closed } from "./workloads/closed.mjs";
import { drain } from "./workloads/drain.mjs";
import { idle } from "./workloads/idle.mjs";
import { kill } from "./workloads/kill.mjs";

const full = {
  accept: { mainstay: 8_000, bullmq: 8_000, "pg-boss poll": 5_000, "pg-boss tuned": 3_000, graphile: 3_000 },
  closed: { mainstay: 6_000, bullmq: 6_000, "pg-boss poll": 4_000, "pg-boss tuned": 1_500, graphile: 2_000 },
  five: { mainstay: 2_500, bullmq: 2_500 }, steadySeconds: 10, settleMs: 12_000, idleSeconds: 30,
  drain: { few: 16_000, many: 300_000, from: 2_000, to: 14_000 },
};
/** One small go through every adapter: what W1 uses is used by W2 too. */
const quick = {
  closed: { mainstay: 300, bullmq: 300, "pg-boss poll": 300, "pg-boss tuned": 200, graphile: 200 },
  five: { mainstay: 150 }, steadySeconds: 1, settleMs: 1_000, idleSeconds: 3,
  accept: { mainstay: 300, bullmq: 300 }, drain: { few: 1_000, many: 4_000, from: 100, to: 900 },
};

/**
 * Every workload of every system, one after the other, round by round, so that a slow minute of the machine hits all.
 * Answers the results: { round, workload, label, …figures }.
 */
export async function runRounds({ rounds, only, quick: small }, { servers, sink, tell }) {
  const size = small ? quick : full;
  const results = [];
  const parts = { servers, sink, tell };
  const measure = async (round, workload, system, work) => {
    const began = Date.now();
    const start = (options) => startSystem(system, { ...options, servers, sink });
    const figures = await work(start);
    results.push({ round, workload, label: system.label, ...figures });
    tell(`round ${round} of ${rounds}  ${workload.padEnd(12)} ${system.label.padEnd(14)} ${shown(figures)}  (${Math.round((Date.now() - began) / 1_000)} s)`);
  };
  const [own] = systems;
  for (let round = 1; round <= rounds; round++) {
    if (only.includes("W1")) for (const system of systems.filter(({ label }) => label in size.accept)) await measure(round, "W1", system, (start) => accept(start, { count: size.accept[system.label] }));
    if (only.includes("W2")) {
      for (const system of systems) {
        const rates = small ? [] : system === own ? [50, 200] : [200];
        await measure(round, "W2", system, (start) => closed(start, { sink, kind: "noop", steps: 1, count: size.closed[system.label], rates, seconds: size.steadySeconds }));
      }
    }
    if (only.includes("W3")) {
      for (const system of systems.filter(({ label }) => label in size.five)) {
        await measure(round, "W3", system, (start) => closed(start, { sink, kind: "five", steps: 5, count: size.five[system.label] }));
      }
    }
    if (only.includes("W4")) {
      await measure(round, "W4", own, (start) => kill(start, { sink, deathWatch: true }));
      await measure(round, "W4 no watch", own, (start) => kill(start, { sink, deathWatch: false }));
    }
    if (only.includes("W5") && round === 1) await measure(round, "W5", own, (start) => idle(start, { ...parts, settleMs: size.settleMs, seconds: size.idleSeconds }));
    if (only.includes("W6")) {
      const { few, many, from, to } = size.drain;
      await measure(round, "W6 few", own, (start) => drain(start, { ...parts, waiting: few, from, to }));
      await measure(round, "W6 many", own, (start) => drain(start, { ...parts, waiting: many, from, to }));
    }
  }
  return results;
}

function shown(figures) {
  return Object.entries(figures).map(([name, value]) => (typeof value === "object" ? Object.entries(value).map(([rate, inner]) => `at ${rate}/s: ${shown(inner)}`).join("; ") : `${name} ${round(value)}`)).filter(Boolean).join(", ");
}

const round = (value) => (Math.abs(value) >= 100 ? Math.round(value) : Number(value?.toFixed(2)));
