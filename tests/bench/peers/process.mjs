// One process of a peer: `front` (Fastify, POST /runs) or `worker`.
import Fastify from "fastify";
import { peers } from "./peers.mjs";

const { role, name, ...place } = JSON.parse(process.env.BENCH_PEER);
const peer = await peers[name]();
process.on("disconnect", () => process.exit(0));
let port;
if (role === "front") {
  const accept = await peer.producer(place);
  const app = Fastify();
  app.post("/runs", async (request, reply) => {
    await accept(request.body);
    return reply.code(201).send({ runId: request.body.id });
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  port = app.server.address().port;
} else {
  await peer.worker(place);
}
process.send({ port });
