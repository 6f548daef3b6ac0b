import { isBuiltin } from "node:module";
import path from "node:path";
import { expect, test } from "vitest";
import { readTree, type Import, type Room } from "./read-tree.js";
import { reserved, rules } from "./rules.js";

const rooms = readTree();

/** What is wrong in a room, one line per import, judged by `judge`. */
function complaints(room: Room, judge: (imported: Import, file: string) => string | undefined): string[] {
  return room.files.flatMap((file) =>
    file.imports.flatMap((imported) => {
      const wrong = judge(imported, file.path);
      return wrong ? [`${file.path}: ${imported.specifier} ${wrong}`] : [];
    }),
  );
}

function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || isBuiltin(specifier)) return undefined;
  return specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

function roomOf(specifier: string): string | undefined {
  return specifier.startsWith("@mainstay/") ? specifier.split("/")[1] : undefined;
}

test.each(rooms)("$name imports only the rooms it may know", (room) => {
  const rule = rules[room.name];
  if (!rule) throw new Error(`${room.name} has no rule in tests/architecture/rules.ts: say what it may import`);
  const wrong = complaints(room, ({ specifier, typesOnly }) => {
    const other = roomOf(specifier);
    if (!other || rule.rooms.includes(other)) return undefined;
    if (rule.types?.includes(other)) return typesOnly ? undefined : "may be imported for its types only (import type)";
    return "is a room that it must not know";
  });
  expect(wrong).toEqual([]);
});

test.each(rooms)("$name imports from outside only what its rule and its package.json name", (room) => {
  const outside = rules[room.name]?.outside ?? [];
  const wrong = complaints(room, ({ specifier }) => {
    const name = packageOf(specifier);
    if (!name) return undefined;
    if (!room.dependencies.includes(name)) return "is not among the dependencies of its package.json";
    if (reserved[name] && !reserved[name].includes(room.name)) return `is for ${reserved[name].join(" and ")} alone`;
    if (roomOf(specifier) || outside === "declared" || outside.includes(name)) return undefined;
    return "is not a package it may know";
  });
  expect(wrong).toEqual([]);
});

test("an import of another room goes through its front door", () => {
  const wrong = rooms.flatMap((room) =>
    complaints(room, ({ specifier }, file) => {
      if (roomOf(specifier) && specifier.split("/").length > 2) return "reaches behind the front door";
      if (!specifier.startsWith(".")) return undefined;
      const target = path.join(path.dirname(file), specifier);
      return target.startsWith(`${room.kind}s/${room.name}/src/`) ? undefined : "leaves the room's src";
    }),
  );
  expect(wrong).toEqual([]);
});

test("the domain knows neither Node nor the time of day nor chance", () => {
  const domain = rooms.filter((room) => room.name === "domain");
  const node = domain.flatMap((room) => complaints(room, ({ specifier }) => (isBuiltin(specifier) ? "is a part of Node" : undefined)));
  const readers = domain.flatMap((room) => room.files).filter((file) => /\bDate\.now\(|\bnew Date\(\)|Math\.random\(|performance\.now\(|crypto\.|process\./.test(file.text));
  expect([...node, ...readers.map((file) => file.path)]).toEqual([]);
});

test("the command line touches the database only in the files of migrate, key, restore and dev", () => {
  const cli = rooms.filter((room) => room.name === "cli");
  const wrong = cli.flatMap((room) => complaints(room, ({ specifier }, file) => {
    if (roomOf(specifier) !== "database") return undefined;
    return /(^|\/)(migrate|key|keys|restore|dev)(\/|\.ts$|-)/.test(file.slice("apps/cli/src".length)) ? undefined : "belongs to migrate, key and restore";
  }));
  expect(wrong).toEqual([]);
});

test("no file is part of an import cycle, not even of types", () => {
  const graph = new Map<string, string[]>();
  for (const { files } of rooms) {
    for (const file of files) {
      const own = file.imports.filter(({ specifier }) => specifier.startsWith("."));
      graph.set(file.path, own.map(({ specifier }) => path.join(path.dirname(file.path), specifier).replace(/\.js$/, ".ts")));
    }
  }
  expect(cyclesOf(graph)).toEqual([]);
});

test("no room is part of a cycle of rooms", () => {
  const graph = new Map(rooms.map((room) => [room.name, [...new Set(room.files.flatMap((file) => file.imports.flatMap(({ specifier }) => roomOf(specifier) ?? [])))]]));
  expect(cyclesOf(graph)).toEqual([]);
});

function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (node: string, trail: readonly string[]): void => {
    const at = trail.indexOf(node);
    if (at >= 0) cycles.push([...trail.slice(at), node].join(" → "));
    if (at >= 0 || done.has(node)) return;
    for (const next of graph.get(node) ?? []) walk(next, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) walk(node, []);
  return cycles;
}
