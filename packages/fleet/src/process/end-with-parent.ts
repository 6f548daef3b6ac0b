import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";

// Preloaded into every child: descriptor 3 is a pipe that only the parent holds open. When the parent is gone, however
// it went, the pipe closes and the child ends at once; what it held is then taken over like any dead process's.
if (isMainThread) {
  const parent = new Socket({ fd: 3, readable: true, writable: false });
  parent.on("error", () => undefined); // a reset pipe closes too
  parent.on("close", () => process.kill(process.pid, "SIGKILL"));
  parent.resume();
  parent.unref();
}
