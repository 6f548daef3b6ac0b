import { testLanes } from "../testing/testLanes.mjs";

/** `npm run test:idle`: what a fleet without work costs its database. */
export function run(args) {
  return testLanes(["idle"], args);
}
