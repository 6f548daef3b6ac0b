import type { Redis } from "ioredis";
import type { Address } from "./redis-route.js";

/** The nodes of the Redis Cluster that `client` is connected to; none when it is no cluster or does not tell. Never rejects. */
export async function readNodes(client: Redis): Promise<Address[]> {
  const slots: unknown = await client.call("CLUSTER", "SLOTS").catch(() => []);
  if (!Array.isArray(slots)) return [];
  const nodes = new Map<string, Address>();
  for (const range of slots as unknown[]) {
    for (const node of Array.isArray(range) ? (range.slice(2) as unknown[]) : []) {
      const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
      if (typeof host === "string" && host !== "" && typeof port === "number") nodes.set(`${host}:${port}`, { host, port });
    }
  }
  return [...nodes.values()];
}
