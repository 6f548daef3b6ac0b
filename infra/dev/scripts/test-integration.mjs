import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:integration`: each room against real Postgres and Redis. */
export function run(args) {
  return testLanes(["integration"], args);
}
