import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:chaos`: real processes that are killed, stopped and cut off. */
export function run(args) {
  return testLanes(["chaos"], args);
}
