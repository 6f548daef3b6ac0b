import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { listFiles, readTree, root } from "./read-tree.js";

const rooms = readTree();
const sources = rooms.flatMap((room) => room.files);
const written = ["apps", "packages", "tests", "infra", "docs", "prisma", "k8s"].flatMap((folder) => listFiles(path.join(root, folder)));
const code = written.filter((file) => /\.(ts|tsx|mjs|js|sql|sh)$/.test(file)).map((file) => path.relative(root, file));

test("no file of code is longer than 400 lines", () => {
  const long = code.flatMap((file) => {
    const lines = readFileSync(path.join(root, file), "utf8").split("\n").length - 1;
    return lines > 400 ? [`${file}: ${lines} lines, split it`] : [];
  });
  // a migration is never edited once merged, so it cannot be split either
  expect(long.filter((line) => !line.startsWith("prisma/migrations/"))).toEqual([]);
});

test("no file or folder bears a name that collects dust", () => {
  const dusty = /^(managers?|services?|handlers?|helpers?|utils?|common|core|base|v\d+|misc|shared)$/i;
  const wrong = sources.filter((file) => file.path.split("/").slice(2).some((part) => dusty.test(part.replace(/\.tsx?$/, ""))));
  const doors = sources.filter((file) => file.path.endsWith("/index.ts") && !/^packages\/[^/]+\/src\/index\.ts$/.test(file.path));
  expect([...wrong, ...doors].map((file) => file.path)).toEqual([]);
});

test("only main.ts of an app, and what test kits read, looks into process.env", () => {
  const readers = sources.filter((file) => /\bprocess\.env\b/.test(withoutComments(file.text)));
  const allowed = /^apps\/[^/]+\/src\/main\.ts$|^packages\/(testing|fleet)\//;
  expect(readers.map((file) => file.path).filter((file) => !allowed.test(file))).toEqual([]);
});

test("SQL is written only in packages/database and in the test kit", () => {
  const sql = /\b(select\s[\s\S]*?\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|create\s+(table|index|database)\s)/i;
  const speakers = sources.filter((file) => !/^packages\/(database|testing)\//.test(file.path) && literalsOf(file.text).some((text) => sql.test(text)));
  expect(speakers.map((file) => file.path)).toEqual([]);
});

test("every export of a package's front door has a docstring", () => {
  const bare = rooms.filter((room) => room.kind === "package").flatMap((room) => undocumented(`packages/${room.name}/src/index.ts`));
  expect([...new Set(bare)].sort()).toEqual([]);
});

test("no test is skipped, focused or left to do", () => {
  const tests = code.filter((file) => /\.test\.(ts|mjs)$/.test(file) && !file.startsWith("tests/architecture/"));
  const wrong = tests.filter((file) => /\b(test|it|describe)\s*\.\s*(skip|only|todo|skipIf|runIf)\b/.test(readFileSync(path.join(root, file), "utf8")));
  expect(wrong).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
}

function literalsOf(text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true));
  return found;
}

/** The exports that a file makes or passes on and that nobody documented, as `file: name`. */
function undocumented(file: string): string[] {
  const parsed = ts.createSourceFile(file, readFileSync(path.join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
  return parsed.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return passedOn(file, statement);
    const exported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);
    return exported && ts.getJSDocCommentsAndTags(statement).length === 0 ? namesOf(statement).map((name) => `${file}: ${name}`) : [];
  });
}

function passedOn(file: string, { moduleSpecifier, exportClause }: ts.ExportDeclaration): string[] {
  if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith(".")) return [];
  const target = path.join(path.dirname(file), moduleSpecifier.text).replace(/\.js$/, ".ts");
  const bare = undocumented(target);
  if (!exportClause || !ts.isNamedExports(exportClause)) return bare;
  const names = exportClause.elements.map((element) => (element.propertyName ?? element.name).text);
  return bare.filter((complaint) => names.some((name) => complaint.endsWith(`: ${name}`)));
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map((declaration) => declaration.name.getText());
  const { name } = statement as { name?: ts.Node };
  return name ? [name.getText()] : ["(unnamed)"];
}
