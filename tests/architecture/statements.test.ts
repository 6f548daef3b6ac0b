import { readFileSync } from "node:fs";
import path from "node:path";
import { statements } from "@mainstay/database";
import { transitions } from "@mainstay/domain";
import { expect, test } from "vitest";
import { listFiles, readTree, root } from "./read-tree.js";

const database = readTree().filter(({ name }) => name === "database").flatMap(({ files }) => files);
const defined = [...statements.values()];
const folder = "packages/database/src";

/** The names of the statements that a file defines. */
const namesIn = (text: string): string[] => [...text.matchAll(/\bstatement(?:<[\s\S]*?>)?\(\s*"([a-z_.]+)"/g)].map(([, name = ""]) => name);

test("every statement is named noun.verb, bears its name in its text and stands in a file", () => {
  for (const { name, text } of defined) {
    expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
    expect(text.replace(/^\S+ /, "").startsWith(`/* ${name} */ `), name).toBe(true);
  }
  expect(database.flatMap(({ text }) => namesIn(text)).sort()).toEqual(defined.map(({ name }) => name).sort());
});

test("a file holds at most one statement that writes", () => {
  const crowded = database.filter(({ text }) => namesIn(text).filter((name) => writes(statements.get(name)?.text ?? "")).length > 1);
  expect(crowded.map(({ path: file }) => file)).toEqual([]);
});

test("rows of runs are written only by these files", () => {
  const writers = database.filter(({ text }) => /\b(update runs|insert into runs)\b/.test(text)).map(({ path: file }) => file.slice(folder.length + 1));
  expect(writers.sort()).toEqual([
    "effects/launch.ts", "effects/relaunch.ts", "effects/settle.ts", "lanes/cap-runs.ts",
    "runs/accept.ts", "runs/claim-tail.ts", "runs/fork.ts", "runs/progress.ts", "runs/release-tail.ts", "runs/request-pause.ts", "runs/request-stop.ts",
    "runs/unpause.ts",
  ]);
});

test("the status of a run is written only by the statements of the table of transitions", () => {
  const movers = defined.filter(({ text }) => /\bupdate runs r set[^;]*?\bstatus = |\binsert into runs\b/.test(text)).map(({ name }) => name);
  expect(movers.sort()).toEqual([...new Set(Object.values(transitions).map(({ statement }) => statement))].sort());
});

test("a statement that updates runs guards by the row it locks: it locks first and asks no absence of other rows", () => {
  for (const { name, text } of defined.filter((one) => /\bupdate runs\b/.test(one.text))) {
    expect(text.indexOf("for no key update"), `${name} locks the run row`).toBeGreaterThan(0);
    expect(text.indexOf("for no key update"), `${name} locks before it writes`).toBeLessThan(text.indexOf("update runs"));
    expect(/not exists\s*\(\s*select\b[^)]*\bfrom (effects|incarnations|runs|outbox)\b/.test(text), `${name} asks for an absence`).toBe(false);
  }
});

test("batches never wait for a row: every set-based statement of holders and fleet skips what is locked", () => {
  const setBased = ["runs.claim", "runs.sweep", "runs.progress", "runs.hand_back", "runs.take_over", "runs.suspect", "runs.enforce_stops", "runs.enforce_deadlines", "effects.launch", "effects.settle", "outbox.take", "incarnations.lapse"];
  for (const name of setBased) expect(statements.get(name)?.text ?? "", name).toMatch(/skip locked/);
});

test("SQL is lower case, takes values as parameters and never answers whole rows", () => {
  for (const { name, text } of defined) {
    expect(/\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|WITH|RETURNING|JOIN|VALUES)\b/.exec(text)?.[0], name).toBeUndefined();
    expect(/\breturning \*/.test(text), name).toBe(false);
  }
});

test("files and folders of code are named in kebab case", () => {
  const odd = ["apps", "packages", "tests", "infra"].flatMap((part) => listFiles(path.join(root, part)))
    .map((file) => path.relative(root, file))
    .filter((file) => /\.(ts|mjs)$/.test(file))
    .filter((file) => !file.split("/").every((part) => /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/.test(part)));
  expect(odd).toEqual([]);
});

test("no file of the repository tells of the machine it was written on", () => {
  const telling = ["apps", "packages", "tests", "infra", "docs", "prisma"].flatMap((part) => listFiles(path.join(root, part)))
    .filter((file) => /\.(ts|mjs|md|sql|sh|json)$/.test(file) && !file.endsWith("tests/architecture/statements.test.ts"))
    .filter((file) => /\/work\/(main|shared)\b|\/tmp\/brief|registry\.npm/.test(readFileSync(file, "utf8")) && !file.endsWith("package-lock.json"));
  expect(telling.map((file) => path.relative(root, file))).toEqual([]);
});

const writes = (text: string): boolean => /\b(insert into|update \w+ |delete from)/.test(text.replace(/\/\*.*?\*\/ /, ""));
