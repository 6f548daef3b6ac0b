import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One file of prisma/migrations, read and checked, not yet applied. */
export type Migration = {
  readonly name: string;
  readonly sql: string;
  /** The statements without comments, strings and `$$` bodies. */
  readonly bare: string;
  /** True when its one statement says `concurrently` and so cannot run in a transaction. */
  readonly concurrent: boolean;
  /** sha-256 of the file, hex, as Prisma records it. */
  readonly checksum: string;
};

/** Reads `<dir>/<name>/migration.sql` in the order of the names. Throws on a file the runner could not apply whole. */
export function readMigrations(dir: string): Migration[] {
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map((entry) => entry.name).sort().map((name) => readMigration(dir, name));
}

function readMigration(dir: string, name: string): Migration {
  const sql = readFileSync(path.join(dir, name, "migration.sql"), "utf8");
  const bare = withoutTextAndComments(sql);
  const concurrent = /\bconcurrently\b/i.test(bare);
  if (concurrent && bare.split(";").filter((part) => part.trim()).length > 1) {
    throw new Error(`${name}: a statement with concurrently must be alone in its file`);
  }
  if (/(^|;)\s*(begin|start\s+transaction|commit|rollback)\b/i.test(bare)) {
    throw new Error(`${name}: begin and commit belong to the runner`);
  }
  return { name, sql, bare, concurrent, checksum: createHash("sha256").update(sql).digest("hex") };
}

/** Blanks comments, strings and `$$` bodies, so that a word inside them is not taken for a statement. */
function withoutTextAndComments(sql: string): string {
  const comment = /--[^\n]*|\/\*[\s\S]*?\*\//.source;
  const text = /(\$\w*\$)[\s\S]*?\1|\be'(?:\\.|''|[^'\\])*'|'(?:''|[^'])*'/.source;
  return sql.replace(new RegExp(`${comment}|${text}`, "gi"), " ");
}
