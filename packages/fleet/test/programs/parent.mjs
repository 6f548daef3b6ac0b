// Starts one child, prints its pid and lives until it is killed.
import { launchProcess } from "../../dist/index.js";

const child = await launchProcess({ role: "worker", entry: process.argv[2], env: { MAINSTAY_PORT: "0" } });
console.log(child.pid);
setInterval(() => undefined, 1_000);
