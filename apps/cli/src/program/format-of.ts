import type { OutputFormat } from "../output/print.js";
import type { GlobalOptions } from "./console.js";

/** How a command prints: `--json`, `-o`, else a table. */
export function formatOf(options: GlobalOptions): OutputFormat {
  return options.json === true ? "json" : (options.output ?? "table");
}
