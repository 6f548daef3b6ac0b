import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { applyMutant } from "./apply-mutant.mjs";
import { makeTree } from "./make-tree.mjs";
import { mutants } from "./mutants.mjs";
import { runTests } from "./run-tests.mjs";

/** So many trees are tested side by side. */
const LANES = 2;

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const only = process.argv.slice(2).filter((word) => !word.startsWith("-")).join(" ");
const chosen = mutants.filter(({ name }) => name.includes(only));
if (chosen.length === 0) {
  console.error(`no mutant has "${only}" in its name; there are: ${mutants.map(({ name }) => name).join("; ")}`);
  process.exit(2);
}

const began = performance.now();
const trees = Array.from({ length: LANES }, (_, lane) => path.join(root, ".data/mutants", `${process.pid}-${lane}`));
for (const tree of trees) makeTree(root, tree);
const say = (line) => console.log(line);

/** Works through items, one tree to a lane. */
async function inLanes(items, act) {
  const queue = [...items];
  const results = [];
  await Promise.all(trees.map(async (tree) => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) results.push(await act(item, tree));
  }));
  return results;
}

/** The tests that shall kill must pass on the code as it is: a red test kills nothing. */
async function control(file, tree) {
  const names = chosen.filter((mutant) => mutant.in === file).map(({ kills }) => kills);
  const { failed } = await runTests({ root, tree, file, names });
  for (const { name, why } of failed) say(`without any mutant red: ${name}\n${why.slice(0, 600)}`);
  return failed.length === 0;
}

async function tryMutant(mutant, tree) {
  const takeBack = applyMutant(tree, mutant);
  try {
    const { failed } = await runTests({ root, tree, file: mutant.in, names: [mutant.kills] });
    say(failed.length > 0 ? `killed    ${mutant.name}\n          by: ${failed[0].name}` : `SURVIVED  ${mutant.name}\n          expected to kill it: ${mutant.kills} (${mutant.in})`);
    return failed.length > 0;
  } catch (error) {
    say(`BROKEN    ${mutant.name}\n          ${error.message}`);
    return false;
  } finally {
    takeBack();
  }
}

try {
  const sound = await inLanes([...new Set(chosen.map((mutant) => mutant.in))], control);
  if (!sound.every(Boolean)) {
    say("the tests are red without a mutant: nothing was tried");
    process.exitCode = 1;
  } else {
    const killed = (await inLanes(chosen, tryMutant)).filter(Boolean).length;
    say(`${killed} of ${chosen.length} mutants killed in ${Math.round((performance.now() - began) / 1000)} s`);
    process.exitCode = killed === chosen.length ? 0 : 1;
  }
} finally {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
}
