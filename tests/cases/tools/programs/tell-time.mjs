// Tells the time of day and the monotonic time as it sees them, in milliseconds, from its main thread and from another.
import { isMainThread, Worker } from "node:worker_threads";

const thread = isMainThread ? "main" : "other";
if (isMainThread) new Worker(new URL(import.meta.url));
setInterval(() => process.stdout.write(`${JSON.stringify({ thread, day: Date.now(), monotonic: performance.now() })}\n`), 20);
