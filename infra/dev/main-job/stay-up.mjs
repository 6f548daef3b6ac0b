import { say } from "../say.mjs";

/** Waits for the signal to stop; says so when a process of the fleet ends before. */
export async function stayUp({ fleet, signal }) {
  for (const one of fleet.processes()) {
    if (one.exit() !== undefined) continue;
    void one.exited.then(({ code, signal: by }) => {
      if (!signal.aborted) say(`${one.name} ended with ${by ?? `status ${code}`}; npm start starts a whole fleet again`);
    });
  }
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
