import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { root } from "./read-tree.js";

type Mutant = { name: string; in: string; kills: string; edits: { file: string; find: string; put: string }[] };

const { mutants } = (await import(pathToFileURL(path.join(root, "tests/mutants/mutants.mjs")).href)) as { mutants: Mutant[] };

test("every mutant's text stands exactly once in the code as it is", () => {
  const lost = mutants.flatMap(({ name, edits }) => edits.filter(({ file, find }) => readFileSync(path.join(root, file), "utf8").split(find).length !== 2).map(({ file }) => `${name}: ${file}`));
  expect(lost).toEqual([]);
});

test("every mutant has a name of its own, changes something, and names a file of tests", () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  expect(mutants.filter((mutant) => mutant.kills === "" || mutant.edits.some(({ find, put }) => find === put) || !existsSync(path.join(root, mutant.in))).map(({ name }) => name)).toEqual([]);
});
