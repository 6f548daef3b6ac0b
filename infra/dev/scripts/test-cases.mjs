import path from "node:path";
import { paths } from "../paths.mjs";
import { Problem } from "../problem.mjs";
import { say } from "../say.mjs";
import { setUp } from "../set-up/set-up.mjs";

/**
 * `npm run test:cases [-- --only C21,C22] [--jobs 3] [--fresh] [--table] [--list]`: the fault cases at full counts and times.
 *
 * Resumable: what passed is kept until the case, the lane or the product changes. `--list` prints every required case with
 * its file and answers 1 when one has none; `--table` writes docs/reference/cases.md.
 */
export async function run(args) {
  const wanted = readArguments(args);
  const lane = path.join(paths.root, "tests/cases/lane");
  const [{ listCases }, { required }] = await Promise.all([import(`${lane}/list-cases.mjs`), import(`${lane}/required.mjs`)]);
  const cases = listCases();
  if (wanted.list) return list(required, cases);
  if (wanted.tableOnly) return void say(`wrote ${await table(lane)}`);
  const unknown = wanted.only?.filter((id) => !cases.some((one) => one.id === id)) ?? [];
  if (unknown.length) throw new Problem(`no case ${unknown.join(", ")}: see npm run test:cases -- --list`);
  await setUp();
  const { runCases } = await import(`${lane}/run-cases.mjs`);
  const chosen = cases.filter(({ id }) => wanted.only === undefined || wanted.only.includes(id));
  const { passed, failed, notRun } = await runCases(chosen, { jobs: wanted.jobs, fresh: wanted.fresh, say });
  if (wanted.table) say(`wrote ${await table(lane)}`);
  console.log(`${notRun ? `${notRun} not run, ` : ""}${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function table(lane) {
  const { writeTable } = await import(`${lane}/write-table.mjs`);
  return path.relative(paths.root, writeTable());
}

function list(required, cases) {
  const files = (id) => cases.filter((one) => one.id === id).map(({ file }) => path.relative(paths.root, file));
  for (const id of required) console.log(`${id} ${files(id).join(" ") || "has no file"}`);
  const missing = required.filter((id) => files(id).length !== 1);
  if (missing.length) say(`expected one file each, tests/cases/<id>-<what>.case.test.ts: ${missing.join(", ")}`);
  return missing.length ? 1 : 0;
}

function readArguments(args) {
  const wanted = { only: undefined, jobs: 1, fresh: false, table: false, list: false, tableOnly: args.length === 1 && args[0] === "--table" };
  for (let index = 0; index < args.length; index += 1) {
    const [name, inline] = args[index].split("=");
    const value = () => inline ?? args[(index += 1)];
    if (name === "--only") wanted.only = (value() ?? "").split(",").map((id) => id.trim().toUpperCase()).filter(Boolean);
    else if (name === "--jobs") wanted.jobs = Number(value());
    else if (name === "--fresh" || name === "--table" || name === "--list") wanted[name.slice(2)] = true;
    else throw new Problem(`unknown argument ${args[index]}: expected --only C21,C22, --jobs N, --fresh, --table or --list`);
  }
  if (wanted.only?.length === 0) throw new Problem("--only expects case ids such as C21,C22");
  if (!Number.isInteger(wanted.jobs) || wanted.jobs < 1) throw new Problem("--jobs expects a whole number from 1");
  return wanted;
}
