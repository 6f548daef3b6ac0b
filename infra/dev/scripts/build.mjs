import { setUp } from "../set-up/set-up.mjs";

/** `npm run build`: packages installed, every room compiled. */
export async function run() {
  await setUp();
}
