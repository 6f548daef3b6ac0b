import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listCases } from "../cases/lane/list-cases.mjs";
import { required } from "../cases/lane/required.mjs";

const cases = listCases();

test("every required fault case has exactly one file, and every file is one of the list", () => {
  const filesOf = (id: string) => cases.filter((one) => one.id === id).length;
  expect(required.filter((id) => filesOf(id) !== 1).map((id) => `${id} has ${String(filesOf(id))} files`)).toEqual([]);
  expect(cases.map(({ id }) => id).filter((id) => !required.includes(id))).toEqual([]);
});

test("a case file defines the one case its name says", () => {
  const wrong = cases.filter(({ id, file }) => {
    const defined = [...readFileSync(file, "utf8").matchAll(/defineCase\(\s*\{\s*id: "(C\d+)"/g)].map((match) => match[1]);
    return defined.length !== 1 || defined[0] !== id;
  });
  expect(wrong.map(({ file }) => file)).toEqual([]);
});
