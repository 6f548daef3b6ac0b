import { setUp } from "../set-up/set-up.mjs";
import { runLanes } from "./run-lanes.mjs";

/** Sets up, runs the lanes and ends with the plain line `N passed, N failed`. Answers the exit status. */
export async function testLanes(lanes, args) {
  await setUp();
  const { passed, failed, notRun } = await runLanes(lanes, args);
  console.log(`${notRun ? `${notRun} not run, ` : ""}${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
