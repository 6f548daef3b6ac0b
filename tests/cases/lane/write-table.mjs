import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { listCases } from "./list-cases.mjs";
import { readResults } from "./run-cases.mjs";

const page = fileURLToPath(new URL("../../../docs/reference/cases.md", import.meta.url));

/** Writes docs/reference/cases.md from the results that are kept; a case without one is shown as such. Answers its path. */
export function writeTable() {
  const known = readResults();
  const rows = listCases().map(({ id, file }) => {
    const link = `[${id}](../../tests/cases/${path.basename(file)})`;
    const record = known[id];
    if (record === undefined) return `| ${link} | | not run yet | | |`;
    const measures = record.measures.map(({ name, value, unit }) => `${name} ${value}${unit ? ` ${unit}` : ""}`).join("; ");
    const parts = record.notRun.map(({ part, needs }) => `${part}: needs ${needs}`).join("; ");
    return `| ${link} | ${record.title} | ${record.result}${parts ? ` (not run: ${parts})` : ""} | ${Math.round(record.seconds)} | ${measures} |`;
  });
  fs.writeFileSync(page, `# Fault cases at full counts

Written by \`npm run test:cases -- --table\` from the last run of each case at full scale; do not edit. A part that waits for something is not run and not counted as passed.

| case | what holds | result | seconds | measured |
|---|---|---|---|---|
${rows.join("\n")}
`);
  return page;
}
