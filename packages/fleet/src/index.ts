export { roles, type Role } from "./process/role.js";
export type { Exit, FleetProcess, LogLine, StartedProcess } from "./process/fleet-process.js";
export type { ProcessOptions } from "./process/start-process.js";
export type { ReadyOptions } from "./process/await-ready.js";
export { launchProcess } from "./process/launch-process.js";
export { entryOf } from "./fleet/entry-of.js";
export { startFleet, type AddOptions, type Fleet, type FleetOptions } from "./fleet/start-fleet.js";
