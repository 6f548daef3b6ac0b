import { parentPort, workerData } from "node:worker_threads";
import type { ThreadOrders } from "./messages.js";
import { runThread } from "./run-thread.js";

if (parentPort === null) throw new Error("the heartbeat thread was started as a process; begin it with beginLiveness()");
await runThread(parentPort, workerData as ThreadOrders);
