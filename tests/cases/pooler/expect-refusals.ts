import { entryOf, launchProcess, type Role } from "@mainstay/fleet";
import { scaledSettings } from "@mainstay/testing";
import pg from "pg";
import { expect } from "vitest";
import type { Pgbouncer } from "./start-pgbouncer.js";

/** What a start is refused over. */
export type Refusals = Readonly<{
  /** The database past the pooler. */
  direct: string;
  pooler: Pgbouncer;
  /** A pooler that drops the session settings which clients send. */
  silent: Pgbouncer;
  /** One that does so too and keeps a session for each client: nothing speaks against it. */
  keeping: Pgbouncer;
  roles: readonly Role[];
  /** The fleet's own environment without its places. */
  env: Readonly<Record<string, string | undefined>>;
}>;

/**
 * Each way of coming through a pooler that cannot work is refused at the start with what to do. On its way it gives the
 * login of this database the session settings, by the statements that the refusal names.
 */
export async function expectRefusals({ direct, pooler, silent, keeping, roles, env }: Refusals): Promise<void> {
  const pooled = pooler.through(direct);
  const launch = (role: Role, places: Readonly<Record<string, string>>) =>
    launchProcess({ role, entry: entryOf(role), env: { PATH: process.env["PATH"], NODE_ENV: "test", ...scaledSettings, ...env, MAINSTAY_PORT: "0", ...places } });
  const refusal = async (places: Readonly<Record<string, string>>): Promise<string> => {
    const said = await Promise.all(roles.map(async (role) => {
      return launch(role, places).then((one) => one.kill("SIGKILL").then(() => `${role} became ready`), (error: unknown) => String(error));
    }));
    expect(said.filter((text) => text.includes("became ready"))).toEqual([]);
    expect(new Set(said.map((text) => text.includes(direct) || text.includes(pooled)))).toEqual(new Set([false])); // no address
    return said.join("\n");
  };
  const all = (text: string): RegExp => new RegExp(Array.from(roles, () => text).join("[^]*"));

  expect(await refusal({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct }))
    .toMatch(all("DATABASE_URL leads through a pooler.*MAINSTAY_DATABASE_POOLER=transaction"));
  expect(await refusal({ DATABASE_URL: pooled, MAINSTAY_DATABASE_POOLER: "transaction" })).toMatch(all("DATABASE_DIRECT_URL must be set and lead past the pooler"));

  const places = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct, MAINSTAY_DATABASE_POOLER: "transaction" };
  const settings = await refusal(places);
  expect(settings).toMatch(all("must bear the settings that cannot be sent through it"));
  const owner = new pg.Client({ connectionString: direct });
  await owner.connect();
  for (const [statement] of new Set(settings.matchAll(/alter role [^;]*;/g))) await owner.query(statement.replaceAll("\\\"", "\""));
  await owner.end();
  for (const one of [pooler, silent, keeping]) {
    await one.kill();
    await one.start();
  }

  const pooledToo = pooled.replace("127.0.0.1", "localhost");
  expect(await refusal({ ...places, DATABASE_DIRECT_URL: pooledToo })).toMatch(all("DATABASE_DIRECT_URL .* leads through a pooler"));
  // the settings are there, by the login; what the processes would prepare is another session's in the next transaction
  expect(await refusal({ DATABASE_URL: silent.through(direct), DATABASE_DIRECT_URL: direct }))
    .toMatch(all("DATABASE_URL leads through a pooler.*MAINSTAY_DATABASE_POOLER=transaction"));
  const kept = await launch("worker", { DATABASE_URL: keeping.through(direct), DATABASE_DIRECT_URL: direct });
  expect(await kept.kill("SIGTERM")).toEqual({ code: 0, signal: null });
}
