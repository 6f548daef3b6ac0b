import { until } from "../until.js";
import { freePort } from "./free-port.js";
import { startOwnRedis, type OwnRedis } from "./start-own-redis.js";

/** A Redis Cluster of one's own, without replicas. */
export type RedisCluster = Readonly<{
  shards: readonly OwnRedis[];
  /** The shard that serves the slot of `key`. */
  shardOf: (key: string) => Promise<OwnRedis>;
  stop: () => Promise<void>;
}>;

const slots = 16_384;

/**
 * Starts `count` servers, shares the slots out between them and waits until each knows the whole cluster. A node that
 * misses most of the others for `nodeTimeoutMs` serves nothing any more.
 */
export async function startRedisCluster({ count = 3, nodeTimeoutMs = 2_000 } = {}): Promise<RedisCluster> {
  const shards: OwnRedis[] = [];
  for (let at = 0; at < count; at++) {
    // the bus of a server listens 10,000 above its port otherwise, which may not exist
    shards.push(await startOwnRedis({ settings: ["--cluster-enabled", "yes", "--cluster-port", String(await freePort()), "--cluster-node-timeout", String(nodeTimeoutMs)] }));
  }
  const rangeOf = (at: number): [from: number, to: number] => [Math.ceil((at * slots) / count), Math.ceil(((at + 1) * slots) / count) - 1];
  const [first, ...others] = await Promise.all(shards.map(async (shard, at) => {
    const [from, to] = rangeOf(at);
    await shard.ask((session) => session.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to)));
    const [, bus] = (await shard.ask((session) => session.config("GET", "cluster-port"))) as string[];
    return { port: String(shard.port), bus: String(bus) };
  }));
  if (first === undefined) throw new RangeError("a cluster has at least one shard");
  for (const { port, bus } of others) await shards[0]?.ask((session) => session.call("CLUSTER", "MEET", "127.0.0.1", port, bus));
  for (const shard of shards) {
    await until(`port ${shard.port} to know the whole cluster`, async () => {
      const info = String(await shard.ask((session) => session.call("CLUSTER", "INFO")));
      return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${count}`) && info.includes(`cluster_slots_ok:${slots}`);
    });
  }
  return {
    shards,
    async shardOf(key) {
      const slot = Number(await shards[0]?.ask((session) => session.call("CLUSTER", "KEYSLOT", key)));
      const found = shards.find((_, at) => rangeOf(at)[0] <= slot && slot <= rangeOf(at)[1]);
      if (found === undefined) throw new Error(`no shard serves slot ${slot}`);
      return found;
    },
    async stop() {
      for (const shard of shards) await shard.stop();
    },
  };
}
