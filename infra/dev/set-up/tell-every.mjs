import { say } from "../say.mjs";

/** Runs `work` and tells the reader every ten seconds that it still goes on. Answers what the work answered. */
export async function tellEvery(words, work) {
  const started = Date.now();
  const ticker = setInterval(() => say(`  ${words}, ${Math.round((Date.now() - started) / 1000)} s`), 10_000);
  try {
    return await work();
  } finally {
    clearInterval(ticker);
  }
}
