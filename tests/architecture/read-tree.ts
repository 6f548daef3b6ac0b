import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** One import or re-export of a source file. */
export type Import = { readonly specifier: string; readonly typesOnly: boolean };

/** One source file that is built, so no test. */
export type SourceFile = {
  /** From the clone's root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
};

/** One workspace: an app or a package. */
export type Room = {
  readonly name: string;
  readonly kind: "app" | "package";
  readonly dependencies: readonly string[];
  readonly files: readonly SourceFile[];
};

/** Every room with its sources, read and parsed once. */
export function readTree(): Room[] {
  return (["package", "app"] as const).flatMap((kind) => {
    const folder = path.join(root, `${kind}s`);
    return readdirSync(folder)
      .sort()
      .filter((name) => existsSync(path.join(folder, name, "package.json")))
      .map((name) => readRoom(kind, name));
  });
}

function readRoom(kind: Room["kind"], name: string): Room {
  const folder = path.join(root, `${kind}s`, name);
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { dependencies?: Record<string, string> };
  const files = listFiles(path.join(folder, "src")).filter((file) => /(?<!\.test|\.d)\.tsx?$/.test(file));
  return { name, kind, dependencies: Object.keys(manifest.dependencies ?? {}), files: files.map(readSource) };
}

function readSource(file: string): SourceFile {
  const text = readFileSync(file, "utf8");
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return { path: path.relative(root, file), text, imports: importsOf(parsed) };
}

function importsOf(file: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typesOnly: boolean): void => {
    if (specifier && ts.isStringLiteral(specifier)) found.push({ specifier: specifier.text, typesOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, importsTypesOnly(node));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly || exportsTypesOnly(node));
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function importsTypesOnly({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = importClause.namedBindings;
  if (importClause.name || !names || !ts.isNamedImports(names)) return false;
  return names.elements.every((element) => element.isTypeOnly);
}

function exportsTypesOnly({ exportClause }: ts.ExportDeclaration): boolean {
  return Boolean(exportClause && ts.isNamedExports(exportClause) && exportClause.elements.every((element) => element.isTypeOnly));
}

/** Every file below a folder, without installed and built ones. An absent folder holds none. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name)).flatMap((entry) => {
    if (["node_modules", "dist", ".data", ".turbo", ".git", "generated"].includes(entry.name)) return [];
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(file);
    return entry.isFile() ? [file] : [];
  });
}
