import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import type { ToolPlace } from "./tool-place.js";

/** The library, for processes with threads, that makes a process see another time of day. */
export const libfaketime: ToolPlace = {
  packages: ["libfaketime"],
  find: () => folders().map((folder) => path.join(folder, "faketime/libfaketimeMT.so.1")).find((file) => existsSync(file)),
};

/** Debian keeps libraries in a folder per machine, such as x86_64-linux-gnu. */
function folders(): string[] {
  const machines = existsSync("/usr/lib") ? readdirSync("/usr/lib").filter((name) => name.includes("-linux-")) : [];
  return [...machines.map((name) => path.join("/usr/lib", name)), "/usr/lib64", "/usr/lib", "/usr/local/lib"];
}
