import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:testcontainers [-- file filters…]`: the integration lane with Postgres and Redis in containers. */
export function run(args) {
  process.env.MAINSTAY_TEST_BACKEND = "testcontainers";
  return testLanes(["integration"], args);
}
