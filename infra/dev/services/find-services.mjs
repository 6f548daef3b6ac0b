import { say } from "../say.mjs";
import { findPostgres } from "./find-postgres.mjs";
import { findRedis } from "./find-redis.mjs";

/** Both services, told to the reader; passwords stay out of what is printed. Answers `{ postgres, redis }`. */
export async function findServices({ environment = process.env } = {}) {
  const postgres = await findPostgres({ environment });
  say(`postgres  ${withoutPassword(postgres.url)}  (${postgres.how})`);
  const redis = await findRedis({ environment });
  say(redis.url ? `redis     ${withoutPassword(redis.url)}  (${redis.how})` : `redis     none  (${redis.how})`);
  return { postgres, redis };
}

function withoutPassword(url) {
  const shown = new URL(url);
  if (shown.password) shown.password = "***";
  return String(shown);
}
