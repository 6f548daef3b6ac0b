import { findServices } from "../services/findServices.mjs";
import { setUp } from "../setUp/setUp.mjs";

/** `npm run -s services`: finds or starts Postgres and Redis and prints where they are as JSON on stdout. */
export async function run() {
  await setUp({ build: "skip" });
  const { postgres, redis } = await findServices();
  console.log(JSON.stringify({ postgres, redis }));
}
