import { setUp } from "../setUp/setUp.mjs";

/** `npm run build`: packages installed, every room compiled. */
export async function run() {
  await setUp();
}
