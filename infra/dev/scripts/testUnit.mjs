import { testLanes } from "../testing/testLanes.mjs";

/** `npm run test:unit`: pure tests beside the sources. */
export function run(args) {
  return testLanes(["unit"], args);
}
