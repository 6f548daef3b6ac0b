import { findServices } from "../services/find-services.mjs";
import { setUp } from "../set-up/set-up.mjs";

/** `npm run -s services`: finds or starts Postgres and Redis and prints where they are as JSON on stdout. */
export async function run() {
  await setUp({ build: "skip" });
  const { postgres, redis } = await findServices();
  console.log(JSON.stringify({ postgres, redis }));
}
