import { findProgram } from "./find-program.js";
import type { ToolPlace } from "./tool-place.js";

/** The pooler of Postgres connections. */
export const pgbouncer: ToolPlace = { packages: ["pgbouncer"], find: () => findProgram("pgbouncer") };
