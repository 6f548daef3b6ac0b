import { now } from "../measure/clock.mjs";
import { openConnection } from "./connection.mjs";

/** `count` requests by `clients` clients, each sending its next when the last is answered. Answers rate per second, latencies and when each was sent. */
export async function closedLoop(system, { count, clients = 32, kind = "noop", ms = 0, prefix }) {
  const connections = await Promise.all(Array.from({ length: clients }, () => openConnection(system.port())));
  const sentAt = new Map();
  const latencies = [];
  let next = 0;
  const began = now();
  await Promise.all(connections.map(async (connection) => {
    while (next < count) {
      const id = `${prefix}-${next++}`;
      const sent = now();
      sentAt.set(id, sent);
      await connection.post(system.request({ id, kind, ms }));
      latencies.push(now() - sent);
    }
  }));
  const tookMs = now() - began;
  for (const connection of connections) connection.close();
  return { perSecond: (count / tookMs) * 1_000, latencies, sentAt, began };
}
