import { setTimeout as sleep } from "node:timers/promises";

const roles = ["worker", "worker", "worker", "api", "relay", "supervisor"];

/**
 * Until `stopping`, each act on a clock of its own (`everyMs`): a SIGKILL of a random process that is not spared, which is
 * started anew at once and not waited for; Redis flushed, Redis killed, Postgres stopped or crashed. Tells each act.
 */
export async function breakThings({ fleet, spared, postgres, redis, everyMs, outages, random, stopping, tell, tallies }) {
  const starting = new Set();
  const wait = (ms) => sleep(ms, undefined, { signal: stopping }).catch(() => undefined);
  const each = async (everyMs, act) => {
    for (;;) {
      await wait(everyMs);
      if (stopping.aborted) return;
      await act();
    }
  };
  /** Redis is there when it is flushed. */
  let turn = Promise.resolve();
  const inTurn = (act) => () => (turn = turn.then(act));
  const kill = async () => {
    const role = roles[Math.floor(random() * roles.length)];
    const victims = fleet.of(role).filter(({ name }) => !spared.has(name));
    const victim = victims[Math.floor(random() * victims.length)];
    if (victim === undefined) return;
    await victim.kill("SIGKILL");
    tallies.kills += 1;
    tallies.killedByRole[role] = (tallies.killedByRole[role] ?? 0) + 1;
    // a process that is started while Postgres is away waits for it
    const start = fleet.add(role).catch((error) => { tallies.refused.push(`a ${role} did not start: ${error.message}`); }).finally(() => { starting.delete(start); });
    starting.add(start);
  };
  const flush = async () => { await redis.flush(); tallies.flushes += 1; tell("Redis was flushed"); };
  const killRedis = async () => {
    await redis.kill();
    await sleep(500 + random() * 4_000);
    await redis.start();
    tallies.redisKills += 1;
    tell("Redis was killed and came back empty");
  };
  const restartPostgres = async () => {
    outages.push({ from: Date.now(), to: Number.POSITIVE_INFINITY });
    await (random() < 0.5 ? postgres.halt() : postgres.crash());
    await sleep(200 + random() * 2_000);
    await postgres.start();
    outages.at(-1).to = Date.now();
    tallies.postgresRestarts += 1;
    tell("Postgres was restarted");
  };
  await Promise.all([each(everyMs.kill, kill), each(everyMs.flush, inTurn(flush)), each(everyMs.redis, inTurn(killRedis)), each(everyMs.postgres, restartPostgres)]);
  await Promise.all(starting);
}
