import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";

/** Copies sources and tests of the rooms into `tree`, so that a mutant never touches the clone. */
export function makeTree(root, tree) {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(tree, "node_modules"));
  for (const kind of ["packages", "apps"]) {
    for (const room of readdirSync(path.join(root, kind))) {
      const [from, to] = [path.join(root, kind, room), path.join(tree, kind, room)];
      for (const part of ["package.json", "src", "test"]) if (existsSync(path.join(from, part))) cpSync(path.join(from, part), path.join(to, part), { recursive: true });
      if (existsSync(path.join(from, "node_modules"))) symlinkSync(path.join(from, "node_modules"), path.join(to, "node_modules"));
    }
  }
}
