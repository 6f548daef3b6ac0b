import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:unit`: pure tests beside the sources. */
export function run(args) {
  return testLanes(["unit"], args);
}
