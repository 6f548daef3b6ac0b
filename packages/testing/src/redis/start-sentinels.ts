import { until } from "../until.js";
import { startOwnRedis, type OwnRedis } from "./start-own-redis.js";

/** A primary with a replica, watched by Sentinels. */
export type Sentinels = Readonly<{
  primary: OwnRedis;
  replica: OwnRedis;
  /** `redis+sentinel://…/test`. */
  url: string;
  /** The port of the primary as the Sentinels see it now. */
  primaryPort: () => Promise<number>;
  stop: () => Promise<void>;
}>;

const name = "test";

/** Starts them; a primary that is silent for `downAfterMs` is replaced by its replica. */
export async function startSentinels({ downAfterMs = 1_000 } = {}): Promise<Sentinels> {
  const primary = await startOwnRedis();
  const replica = await startOwnRedis({ settings: ["--replicaof", `127.0.0.1 ${primary.port}`] });
  await until("the replica to follow", async () => (await replica.ask((session) => session.info("replication"))).includes("master_link_status:up"));
  const sentinels: OwnRedis[] = [];
  for (let at = 0; at < 3; at++) {
    sentinels.push(await startOwnRedis({
      settings: ["--sentinel"],
      file: [
        `sentinel monitor ${name} 127.0.0.1 ${primary.port} 2`, `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
        `sentinel failover-timeout ${name} 5000`,
      ],
    }));
  }
  const ask = async (sentinel: OwnRedis): Promise<ReadonlyMap<string, string>> => {
    const flat = (await sentinel.ask((session) => session.call("SENTINEL", "MASTER", name))) as string[];
    return new Map(Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] ?? "", flat[2 * at + 1] ?? ""]));
  };
  for (const sentinel of sentinels) {
    await until("each Sentinel to know the replica and its like", async () => {
      const seen = await ask(sentinel);
      return seen.get("num-slaves") === "1" && seen.get("num-other-sentinels") === "2";
    });
  }
  return {
    primary, replica,
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${name}`,
    primaryPort: async () => Number(sentinels[0] && (await ask(sentinels[0])).get("port")),
    async stop() {
      for (const one of [...sentinels, replica, primary]) await one.stop();
    },
  };
}
