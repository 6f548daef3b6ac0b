import { fileURLToPath } from "node:url";
import type { TestFleetOptions } from "@mainstay/testing";

/** A fleet with the probe nodes of the wire's cases. */
export const wireFleet: Pick<TestFleetOptions, "workflows"> = { workflows: fileURLToPath(new URL("./wire-workflows.mjs", import.meta.url)) };
