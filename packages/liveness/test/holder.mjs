// A process with an incarnation, for tests that kill, freeze and wedge it. Words on stdin: `wedge <ms>` blocks the main
// loop, `mute` stops attesting.
import { createInterface } from "node:readline";
import { beginLiveness } from "@mainstay/liveness";
import { createLogger } from "@mainstay/telemetry";

const { config, limits } = JSON.parse(process.env.HOLDER ?? "{}");
const say = (word) => process.stdout.write(`${JSON.stringify(word)}\n`);
const liveness = await beginLiveness({
  role: "worker", pool: "default", host: "test", version: "0", slots: 10, limits, config, attests: "audit",
  probe: { host: "127.0.0.1", port: 0 },
  onLost: (reason) => say({ msg: "lost", reason, at: Date.now() }),
  readiness: () => ({ ready: true }), metricsText: () => Promise.resolve("metrics\n"),
  logger: createLogger({ role: "worker", incarnation: "holder", level: "error" }),
});
let attesting = true;
setInterval(() => { if (attesting) liveness.attest(); }, 100);
createInterface({ input: process.stdin }).on("line", (line) => {
  const [word, value] = line.split(" ");
  if (word === "mute") attesting = false;
  if (word === "wedge") {
    const until = performance.now() + Number(value);
    while (performance.now() < until);
    say({ msg: "unwedged", valid: liveness.isValid() });
  }
});
say({ msg: "begun", incarnation: liveness.incarnation, port: liveness.port });
