import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../src/index.js";
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

/** A process that starts servers of its own, tells their ports and stays; it ends with this one. */
async function starter(code: string): Promise<{ child: ChildProcess; ports: number[] }> {
  const folder = mkdtempSync(path.join(repository, ".data/forgotten-"));
  const file = path.join(folder, "starter.mjs");
  writeFileSync(file, `
    process.once("disconnect", () => process.exit());
    const { startOwnPostgres, startOwnRedis } = await import("@mainstay/testing");
    const servers = await Promise.all([${code}]);
    process.send(servers.map((server) => server.port));`);
  const child = fork(file, { stdio: "inherit" });
  onTestFinished(() => {
    if (child.connected) child.disconnect();
    rmSync(folder, { recursive: true, force: true });
  });
  const [ports] = (await once(child, "message")) as [number[]];
  return { child, ports };
}

test("servers of a test process that was killed are ended by a later one", async () => {
  const victim = await starter("startOwnPostgres(), startOwnRedis()");
  const ended = once(victim.child, "exit");
  victim.child.kill("SIGKILL");
  await ended;
  expect(await Promise.all(victim.ports.map(answers))).toEqual([true, true]);

  await starter("startOwnRedis()"); // starts no Postgres, which might take the freed port
  await until("both servers to be gone", async () => !(await Promise.all(victim.ports.map(answers))).includes(true), 10_000);
});
