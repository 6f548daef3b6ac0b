import path from "node:path";
import { build } from "vite";

/** What stands in the place of Node's, the broker's and the database's own, in the code under test alone. */
const places = {
  "node:crypto": "modules/crypto.ts", "node:timers/promises": "modules/timers-promises.ts", "node:worker_threads": "modules/worker-threads.ts",
  "packages/database/src/sessions/open-session.ts": "modules/open-session.ts", "packages/config/src/version.ts": "modules/version.ts",
};

/**
 * Makes one program of the simulation and the sources it runs, taken from `tree` (the clone, or a copy with a mutant in
 * it). Time, chance, threads, sessions and the broker are replaced on the way; not a line of the sources is changed.
 */
export async function bundle({ root, tree, file }) {
  const here = path.join(root, "tests/sim");
  const inTree = (id) => id.startsWith(path.join(root, "packages") + path.sep) || id.startsWith(path.join(root, "apps") + path.sep);
  const under = (id) => id.startsWith(path.join(tree, "packages") + path.sep) || id.startsWith(path.join(tree, "apps") + path.sep);
  const simulated = {
    name: "simulated",
    async resolveId(id, importer) {
      if (importer === undefined) return undefined;
      if (under(importer) && places[id]) return path.join(here, places[id]);
      const room = /^@mainstay\/([a-z]+)$/.exec(id)?.[1];
      if (room === "broker") return path.join(here, "modules/broker.ts");
      if (room) return path.join(tree, "packages", room, "src/index.ts");
      if (id.startsWith("node:")) return { id, external: true };
      if (!id.startsWith(".")) return { id, external: true };
      const target = path.resolve(path.dirname(importer), id).replace(/\.js$/, ".ts");
      const mapped = inTree(target) ? path.join(tree, path.relative(root, target)) : target;
      const place = places[path.relative(tree, mapped)];
      return place ? path.join(here, place) : mapped;
    },
  };
  await build({
    configFile: false, logLevel: "silent", root: here, plugins: [{ ...simulated, enforce: "pre" }],
    build: {
      ssr: path.join(here, "main.ts"), target: "node20", outDir: path.dirname(file), emptyOutDir: false, minify: false, copyPublicDir: false, reportCompressedSize: false,
      rolldownOptions: { output: { entryFileNames: path.basename(file), codeSplitting: false } },
    },
  });
}
