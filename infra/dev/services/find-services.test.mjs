import { expect, test } from "vitest";
import { findPostgres } from "./find-postgres.mjs";
import { findRedis } from "./find-redis.mjs";

test("a URL of the caller is taken as it is and nothing is started", async () => {
  const environment = { DATABASE_URL: "postgres://db.example/fleet", REDIS_URL: "redis://cache.example" };
  expect(await findPostgres({ environment })).toEqual({ url: "postgres://db.example/fleet", how: "DATABASE_URL" });
  expect(await findRedis({ environment })).toEqual({ url: "redis://cache.example", how: "REDIS_URL" });
});

test("MAINSTAY_BROKER=none wins over a Redis that is there", async () => {
  const environment = { MAINSTAY_BROKER: "none", REDIS_URL: "redis://cache.example" };
  expect((await findRedis({ environment })).url).toBeUndefined();
});

test("another word for the broker is refused with the words that there are", async () => {
  await expect(findRedis({ environment: { MAINSTAY_BROKER: "kafka" } })).rejects.toThrow("MAINSTAY_BROKER must be redis or none");
});
