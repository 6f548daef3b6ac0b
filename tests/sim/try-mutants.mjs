import { rmSync } from "node:fs";
import path from "node:path";
import { applyMutant } from "../mutants/apply-mutant.mjs";
import { makeTree } from "../mutants/make-tree.mjs";
import { mutants } from "../mutants/mutants.mjs";
import { bundle } from "./bundle.mjs";
import { outside } from "./outside.mjs";
import { playSeeds } from "./play-seeds.mjs";

/**
 * Removes one guard after the other and plays seeds until a law breaks. Answers how many survived. Guards that no step of
 * the simulation reaches are named in `outside.mjs`, each with its reason.
 */
export async function tryMutants({ root, folder, urls, seeds, only }) {
  const chosen = mutants.filter(({ name }) => only === undefined || only.split("|").some((words) => name.includes(words)));
  const unknown = Object.keys(outside).filter((name) => !mutants.some((mutant) => mutant.name === name));
  if (unknown.length > 0) throw new Error(`tests/sim/outside.mjs names mutants that are not there: ${unknown.join("; ")}`);
  const queue = chosen.filter(({ name }) => !(name in outside));
  const counts = { killed: 0, survived: 0 };
  await Promise.all(urls.map(async (url, lane) => {
    const tree = path.join(folder, `tree-${lane}`);
    makeTree(root, tree);
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const { seed, law, played } = await tryOne({ root, tree, url, mutant, seeds, program: path.join(folder, `mutant-${lane}.mjs`) });
      counts[law === undefined ? "survived" : "killed"] += 1;
      console.log(law === undefined ? `SURVIVED  ${mutant.name}\n          ${played} seeds broke no law` : `killed    ${mutant.name}\n          by seed ${seed}: ${law}`);
    }
    rmSync(tree, { recursive: true, force: true });
  }));
  for (const { name } of chosen) if (name in outside) console.log(`outside   ${name}\n          ${outside[name]}`);
  console.log(`${counts.killed} of ${counts.killed + counts.survived} mutants break a law; ${chosen.length - counts.killed - counts.survived} lie outside the simulation`);
  return counts.survived;
}

async function tryOne({ root, tree, url, mutant, seeds, program }) {
  const takeBack = applyMutant(tree, mutant);
  try {
    await bundle({ root, tree, file: program });
  } finally {
    takeBack();
  }
  const found = { seed: undefined, law: undefined, played: 0 };
  await playSeeds({
    program, urls: [url], from: 1, to: seeds + 1,
    onResult: ({ seed, broken }) => {
      found.played += 1;
      if (broken.length === 0) return true;
      Object.assign(found, { seed, law: broken[0] });
      return false;
    },
  });
  return found;
}
