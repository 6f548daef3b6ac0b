import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** Absolute folders of this clone. `data` holds all that the scripts leave behind, and is never committed. */
export const paths = {
  root,
  data: path.join(root, ".data"),
  migrations: path.join(root, "prisma/migrations"),
  modules: path.join(root, "node_modules"),
  bin: path.join(root, "node_modules/.bin"),
};
