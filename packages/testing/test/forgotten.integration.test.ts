import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOwnRedis, until } from "../src/index.js";
import { repository } from "../src/backend/repository.js";

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

test("servers of a test process that was killed are ended by a later one", async () => {
  const folder = mkdtempSync(path.join(repository, ".data/forgotten-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "victim.mjs");
  writeFileSync(file, `
    const { startOwnPostgres, startOwnRedis } = await import("@mainstay/testing");
    const [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    process.send([postgres.port, redis.port]);
    setInterval(() => undefined, 1000);`);
  const victim = fork(file, { stdio: "inherit" });
  const [ports] = (await once(victim, "message")) as [number[]];
  victim.kill("SIGKILL");
  await once(victim, "exit");
  expect(await Promise.all(ports.map(answers))).toEqual([true, true]);

  const later = fork(file, { stdio: "inherit" }); // this process may have swept before
  await once(later, "message");
  await until("both servers to be gone", async () => !(await Promise.all(ports.map(answers))).includes(true), 10_000);
  later.kill("SIGKILL");
  await once(later, "exit");
  const own = await startOwnRedis();
  await own.stop();
});
