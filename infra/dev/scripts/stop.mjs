import { say } from "../say.mjs";
import { stopServices } from "../services/stop-services.mjs";

/** `npm run stop`: stops this clone's Postgres and Redis. Data stays in .data. */
export async function run() {
  const stopped = await stopServices();
  say(stopped.length ? `stopped ${stopped.join(", ")}` : "nothing was running");
}
