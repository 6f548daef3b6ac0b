import { testLanes } from "../testing/testLanes.mjs";

/** `npm run test:chaos`: real processes that are killed, stopped and cut off. */
export function run(args) {
  return testLanes(["chaos"], args);
}
