import { testLanes } from "../testing/test-lanes.mjs";

/** `npm test [-- file filters…]`: the lanes that every change must pass, on services that it finds and names. */
export function run(args) {
  return testLanes(["unit", "integration", "chaos", "cases"], args);
}
