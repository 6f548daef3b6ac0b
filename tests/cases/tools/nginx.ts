import { findProgram } from "./find-program.js";
import type { ToolPlace } from "./tool-place.js";

/** The HTTP proxy that stands in front of an api. */
export const nginx: ToolPlace = { packages: ["nginx-light"], find: () => findProgram("nginx") };
