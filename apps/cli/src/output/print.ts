import Table from "cli-table3";
import pc from "picocolors";

/** How answers are printed: for people, or as the API's own objects. */
export type OutputFormat = "table" | "json" | "ndjson" | "id";

/** Every way to print. */
export const outputFormats: readonly OutputFormat[] = ["table", "json", "ndjson", "id"];

/** A list as text. `columns` name members; `id` is the member that `-o id` prints. */
export type ListShape<Row> = Readonly<{ columns: Readonly<Record<string, (row: Row) => string>>; id: (row: Row) => string }>;

/** Prints a list: a table, one JSON array, one object a line, or one id a line. */
export function printList<Row>(rows: readonly Row[], format: OutputFormat, shape: ListShape<Row>): string {
  if (format === "json") return `${JSON.stringify(rows, undefined, 2)}\n`;
  if (format === "ndjson") return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  if (format === "id") return rows.map((row) => `${shape.id(row)}\n`).join("");
  const table = new Table({
    head: Object.keys(shape.columns),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
    chars: {
      top: "", "top-mid": "", "top-left": "", "top-right": "", bottom: "", "bottom-mid": "", "bottom-left": "",
      "bottom-right": "", left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "",
    },
  });
  for (const row of rows) table.push(Object.values(shape.columns).map((cell) => cell(row)));
  return `${table.toString().split("\n").map((line) => line.trimEnd()).join("\n")}\n`;
}

/** Prints one object: aligned names and values, its JSON, or its id. Members without a value are left out. */
export function printObject(object: object, format: OutputFormat, id: string): string {
  if (format === "json") return `${JSON.stringify(object, undefined, 2)}\n`;
  if (format === "ndjson") return `${JSON.stringify(object)}\n`;
  if (format === "id") return `${id}\n`;
  const members = Object.entries(object).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(...members.map(([name]) => name.length));
  return members.map(([name, value]) => `${name.padEnd(width)}  ${show(value)}\n`).join("");
}

function show(value: unknown): string {
  if (typeof value === "string") return showStatus(value);
  return JSON.stringify(value);
}

/** A status or a check's state in its colour; other words as they are. NO_COLOR and FORCE_COLOR are honoured. */
export function showStatus(word: string): string {
  if (word === "completed" || word === "ok" || word === "live") return pc.green(word);
  if (word === "failed" || word === "lapsed") return pc.red(word);
  if (word === "cancelled" || word === "cancelling" || word === "warning" || word === "draining") return pc.yellow(word);
  return word;
}
