import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listCases } from "../cases/lane/list-cases.mjs";
import { required } from "../cases/lane/required.mjs";

const cases = listCases();

test("no fault case has two files, and every file is one of the list", () => {
  const ids = cases.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(ids.filter((id) => !required.includes(id))).toEqual([]);
});

test("a case file defines the one case its name says", () => {
  const wrong = cases.filter(({ id, file }) => {
    const defined = [...readFileSync(file, "utf8").matchAll(/defineCase\(\s*\{\s*id: "(C\d+)"/g)].map((match) => match[1]);
    return defined.length !== 1 || defined[0] !== id;
  });
  expect(wrong.map(({ file }) => file)).toEqual([]);
});
