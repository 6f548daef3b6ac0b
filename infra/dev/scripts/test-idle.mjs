import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:idle`: what a fleet without work costs its database. */
export function run(args) {
  return testLanes(["idle"], args);
}
