// Preloaded by NODE_OPTIONS: the supervisor's own program runs with one more lane, on the same clock and the same leases.
import { register } from "node:module";

register("./resolve-clock.mjs", import.meta.url);
