import { createHash } from "node:crypto";
import { openLink } from "./postgres/open-link.js";
import { runSeed } from "./world/run-seed.js";

type Order = { url: string; from: number; to: number; step: number; stopAtFirst: boolean; show: boolean };

/** One simulating process: plays its share of the seeds and tells each result as a line of JSON. */
async function simulate({ url, from, to, step, stopAtFirst, show }: Order): Promise<void> {
  const link = await openLink(url);
  const late = { error: undefined as unknown };
  // code of an ended seed may still complain; code of the present one is judged by its laws
  process.on("unhandledRejection", (reason) => { late.error = reason; });
  for (let seed = from; seed < to; seed += step) {
    const result = await runSeed(link, seed);
    if (late.error !== undefined) {
      const stack = late.error instanceof Error ? late.error.stack ?? late.error.message : JSON.stringify(late.error);
      result.broken.push(`no promise is left without an answer: ${stack}`);
      late.error = undefined;
    }
    const lines = result.broken.length > 0 || show ? result.lines : [];
    const digest = createHash("sha256").update(result.lines.join("\n")).digest("hex"); // of the interleaving: played again it is the same
    process.stdout.write(`${JSON.stringify({ ...result, lines, digest })}\n`);
    if (stopAtFirst && result.broken.length > 0) break;
  }
  await link.end();
}

await simulate(JSON.parse(process.argv[2] ?? "{}") as Order);
process.exit(0);
