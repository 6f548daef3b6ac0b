import path from "node:path";
import { defineConfig } from "vitest/config";

const tree = process.env.MAINSTAY_MUTANT_TREE;
if (!tree) throw new Error("MAINSTAY_MUTANT_TREE must name the tree to test; use npm run test:mutants");

/** Tests of one copied tree: rooms are taken from its sources, the test kit from the clone, as it is built. */
export default defineConfig({
  root: tree,
  cacheDir: path.join(tree, ".vite"),
  resolve: { alias: [{ find: /^@mainstay\/(?!testing$|fleet$)([a-z]+)$/, replacement: `${tree}/packages/$1/src/index.ts` }] },
  test: { include: ["{apps,packages}/*/test/**/*.integration.test.ts", "{apps,packages}/*/src/**/*.test.ts"], environment: "node", pool: "forks", testTimeout: 20_000, hookTimeout: 60_000, maxWorkers: 1 },
});
