import { testLanes } from "../testing/test-lanes.mjs";

/** `npm run test:tenancy`: every operation against missing, revoked, wrong and foreign keys. */
export function run(args) {
  return testLanes(["tenancy"], args);
}
