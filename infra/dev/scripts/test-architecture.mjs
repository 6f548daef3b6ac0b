import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:arch`: the rules of the tree: who imports whom, sizes, one place for SQL. */
export function run(args) {
  return testLanes(["architecture"], args);
}
