import { fileURLToPath } from "node:url";
import type { TestFleetOptions } from "@mainstay/testing";

/** A fleet with the probe nodes of the cases about leases and shutdown. */
export const probeFleet: Pick<TestFleetOptions, "workflows"> = { workflows: fileURLToPath(new URL("./probe-workflows.mjs", import.meta.url)) };
