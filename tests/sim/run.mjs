import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { playSeeds } from "./play-seeds.mjs";
import { clearGround, layGround } from "./postgres/lay-ground.mjs";
import { tryMutants } from "./try-mutants.mjs";

const USAGE = "usage: npm run test:sim [-- --seeds 300 | --seed 4711 | --from 1 | --mutants [--only <words>]]";
/** So many processes play side by side, each on a database of its own. */
const LANES = 2;
/** One seed of so many is played twice: the same seed must give the same interleaving. */
const TWICE = 50;
/** So many seeds a mutant may survive before it counts as a survivor. */
const MUTANT_SEEDS = 1_500;

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const options = readOptions(process.argv.slice(2));
const folder = path.join(root, ".data/sim", String(process.pid));
const lanes = options.seed === undefined ? LANES : 1;
const names = Array.from({ length: lanes }, (_, lane) => `mainstay_sim_${process.pid}_${lane}`);
const serverUrl = process.env.DATABASE_URL;
if (!serverUrl) throw new Error("DATABASE_URL must name the server to simulate on; npm run test:sim finds or starts one");

mkdirSync(folder, { recursive: true });
try {
  const { migrate } = await import(`${root}/packages/database/dist/index.js`);
  const urls = [];
  for (const name of names) urls.push(await layGround({ serverUrl, name, migrate, migrations: path.join(root, "prisma/migrations") }));
  process.exitCode = options.mutants
    ? ((await tryMutants({ root, folder, urls, seeds: options.seeds ?? MUTANT_SEEDS, only: options.only })) === 0 ? 0 : 1)
    : await playAll(urls);
} finally {
  for (const name of names) await clearGround(serverUrl, name).catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
}

/** Plays the seeds; status 1 when one of them breaks a law. */
async function playAll(urls) {
  const program = path.join(folder, "simulation.mjs");
  await bundle({ root, tree: root, file: program });
  const from = options.seed ?? options.from ?? 1;
  const to = options.seed === undefined ? from + (options.seeds ?? 300) : from + 1;
  const sum = { seeds: 0, steps: 0, statements: 0, executions: 0, faults: 0, violations: 0 };
  const digests = new Map();
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const line = () => `${sum.seeds} of ${to - from} seeds, ${sum.statements} statements, ${sum.executions} executions, ${sum.faults} faults, ${sum.violations} violations, ${Math.round(seconds())} s`;
  const ticker = setInterval(() => console.log(line()), 5_000);
  await playSeeds({
    program, urls, from, to, show: options.seed !== undefined,
    onResult: (result) => {
      sum.seeds += 1;
      digests.set(result.seed, result.digest);
      for (const name of ["steps", "statements", "executions", "faults"]) sum[name] += result[name];
      if (result.broken.length > 0 || options.seed !== undefined) tell(result);
      if (result.broken.length > 0) sum.violations += 1;
      return true;
    },
  }).finally(() => clearInterval(ticker));
  const rate = (sum.seeds / seconds()).toFixed(1);
  for (let seed = from; options.seed === undefined && seed < to; seed += TWICE) {
    await playSeeds({
      program, urls: urls.slice(-1), from: seed, to: seed + 1,
      onResult: ({ digest }) => {
        if (digest === digests.get(seed)) return true;
        console.log(`\nseed ${seed} BREAKS:\n  a seed played again, in another process, is the same interleaving\n`);
        sum.violations += 1;
        return true;
      },
    });
  }
  console.log(`${line()} (${rate} seeds a second)`);
  return sum.violations === 0 ? 0 : 1;
}

/** A seed's interleaving, step by step: simulated milliseconds, who, what, the answer, what was injected. */
function tell({ seed, weather, broken, lines }) {
  console.log(`\nseed ${seed} (${weather})${broken.length === 0 ? ": no law is broken" : " BREAKS:"}`);
  for (const law of broken) console.log(`  ${law}`);
  console.log(lines.map((one) => `  ${one}`).join("\n"));
  console.log(`  replay: npm run test:sim -- --seed ${seed}\n`);
}

function readOptions(words) {
  const read = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === "--mutants") read.mutants = true;
    else if (["--seeds", "--seed", "--from"].includes(word) && /^\d+$/.test(words[at + 1] ?? "")) read[word.slice(2)] = Number(words[(at += 1)]);
    else if (word === "--only" && words[at + 1]) read.only = words[(at += 1)];
    else {
      console.error(`${word}: expected one of the options below, each with a whole number where it takes one\n${USAGE}`);
      process.exit(2);
    }
  }
  return read;
}
