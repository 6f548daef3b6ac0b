// A process of a fleet as far as its parent can tell: says where it listens, answers its probe, ends on SIGTERM.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const readyAfter = Number(process.env.READY_AFTER ?? 0);
const started = Date.now();
const server = createServer((_, response) => {
  response.statusCode = Date.now() - started >= readyAfter ? 200 : 503;
  response.end(response.statusCode === 200 ? "ready" : "still starting");
});
if (process.env.FAILS) {
  console.error("DATABASE_URL: expected a URL");
  process.exit(78);
}
process.on("SIGTERM", () => (process.env.DEAF ? undefined : process.exit(0)));
server.listen(Number(process.env.MAINSTAY_PORT), "127.0.0.1", () => {
  console.log(JSON.stringify({ msg: "process ready", role: process.env.ROLE, incarnation: randomUUID(), port: server.address().port }));
});
