import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startOwnPostgres, until } from "@mainstay/testing";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createFakeClock, type FakeClock } from "../cases/tools/create-fake-clock.js";

const hourMs = 3_600_000;
const program = fileURLToPath(new URL("../cases/tools/programs/tell-time.mjs", import.meta.url));

async function fakeClock(): Promise<FakeClock> {
  const clock = await createFakeClock();
  onTestFinished(clock.remove);
  return clock;
}

test("stepping a fake clock moves the time of day of a running process in both directions, and not its monotonic time", async () => {
  const clock = await fakeClock();
  const teller = spawn(process.execPath, [program], { env: clock.environment, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void teller.kill("SIGKILL"));
  const said: { thread: string; day: number; monotonic: number }[] = [];
  createInterface(teller.stdout).on("line", (line) => said.push(JSON.parse(line) as (typeof said)[number]));

  for (const offsetMs of [0, hourMs, -hourMs, 0]) {
    clock.step(offsetMs);
    for (const thread of ["main", "other"]) {
      await until(`the ${thread} thread to see ${offsetMs} ms`, () => {
        const last = said.findLast((one) => one.thread === thread);
        return last !== undefined && Math.abs(last.day - Date.now() - offsetMs) < 5_000;
      });
    }
  }
  const main = said.filter(({ thread }) => thread === "main").map(({ monotonic }) => monotonic);
  const steps = main.slice(1).map((at, index) => at - (main[index] ?? 0));
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...steps)).toBeLessThan(60_000);
});

test("stepping a fake clock moves now() of a running Postgres, in open sessions and new ones, over a restart too", async () => {
  const clock = await fakeClock();
  const server = await startOwnPostgres({ environment: clock.environment });
  onTestFinished(() => server.stop());
  const open = await connect(server.url);
  const expectOffset = async (offsetMs: number, ...sessions: pg.Client[]): Promise<void> => {
    for (const session of sessions) {
      const { rows } = await session.query<{ day: number }>("select extract(epoch from now())::float8 * 1000 as day");
      expect(Math.abs((rows[0]?.day ?? 0) - Date.now() - offsetMs)).toBeLessThan(5_000);
    }
  };
  for (const offsetMs of [300_000, -300_000]) {
    clock.step(offsetMs);
    await expectOffset(offsetMs, open, await connect(server.url));
  }
  await server.halt();
  await server.start();
  await expectOffset(-300_000, await connect(server.url));
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined); // the server is restarted under it
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}
