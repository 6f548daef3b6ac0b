import { existsSync } from "node:fs";
import path from "node:path";

/** A program on the PATH or in one of the folders that root's PATH holds. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/sbin", "/sbin", "/usr/local/sbin"];
  return folders.map((folder) => path.join(folder, name)).find((file) => path.isAbsolute(file) && existsSync(file));
}
