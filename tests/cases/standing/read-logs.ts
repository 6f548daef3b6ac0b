import { createReadStream, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";

/** Every line that the processes of a fleet wrote, one process after the other. */
export async function* readLogs(folder: string): AsyncGenerator<Readonly<{ process: string; text: string }>> {
  for (const file of existsSync(folder) ? readdirSync(folder).sort() : []) {
    for await (const text of createInterface({ input: createReadStream(path.join(folder, file)) })) yield { process: path.basename(file, ".log"), text };
  }
}
