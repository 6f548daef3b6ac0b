import { randomUUID } from "node:crypto";
import {
  createAccept, createDatabase, createFindKey, createKey, listKeys, mintRunId, readEffects, readEventCounts, readEvents, readRun,
  readRuns, revokeKey, statement, type Database,
} from "@mainstay/database";
import { createTestDatabase, until, type TestDatabase } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const everyRun = statement<{ workspace: string }>("test.every_run", "select workspace from runs");
const overwrite = statement("test.overwrite", "update runs set tags = '{}'");
const everyKey = statement("test.every_key", "select * from api_keys");

let owned: TestDatabase;
let database: Database;
const ids = { alpha: mintRunId(), beta: mintRunId() };
beforeAll(async () => {
  owned = await createTestDatabase();
  database = createDatabase({ url: owned.url, applicationName: "test", poolSize: 3, statementTimeoutMs: 5_000, idleInTransactionMs: 5_000 });
  const accept = createAccept(database, { dispatchBoundMs: 0, giveUpMs: 5_000 });
  for (const [workspace, id] of Object.entries(ids)) {
    await accept({
      id, workspace, workflowId: "w", specHash: "h", pool: "default", requires: "default/core.noop", input: "{}", inputDigest: "00",
      subject: {}, runTimeoutMs: 60_000, nextNodes: [{ id: "a", typeId: "core.noop" }],
    });
  }
});
afterAll(async () => {
  await database.end();
  await owned.drop();
});

describe("reads", () => {
  it("see their own workspace's runs, and of another one's nothing", async () => {
    expect((await readRun(database, "alpha", ids.alpha))?.id).toBe(ids.alpha);
    expect(await readRun(database, "alpha", ids.beta)).toBeUndefined();
    expect(await readEvents(database, "alpha", { runId: ids.beta, after: -1, limit: 10, maxBytes: 1_000 })).toBeUndefined();
    expect(await readEffects(database, "alpha", ids.beta)).toBeUndefined();
    expect([...(await readEventCounts(database, "alpha", [ids.alpha, ids.beta])).keys()]).toEqual([ids.alpha]);
    expect((await readRuns(database, "beta", { limit: 10 })).map((run) => run.id)).toEqual([ids.beta]);
  });

  it("are held by row-level security: a statement without a where sees one workspace, and none without a name", async () => {
    const seen = (workspace: string) => database.read(workspace, (transaction) => transaction.query(everyRun, []));
    expect(await seen("alpha")).toEqual([{ workspace: "alpha" }]);
    expect(await seen("' or true --")).toEqual([]);
    expect(await seen("")).toEqual([]);
  });

  it("can neither write nor read keys", async () => {
    await expect(database.read("alpha", (transaction) => transaction.query(overwrite, []))).rejects.toThrow(/read-only|permission denied/);
    await expect(database.read("alpha", (transaction) => transaction.query(everyKey, []))).rejects.toThrow("permission denied");
  });

  it("leave no workspace behind on the connection", async () => {
    const one = createDatabase({ url: owned.url, applicationName: "test", poolSize: 1, statementTimeoutMs: 5_000, idleInTransactionMs: 5_000 });
    const setting = statement<{ seen: string | null; role: string }>("test.setting", "select current_setting('mainstay.workspace', true) as seen, current_user as role");
    await readRun(one, "alpha", ids.alpha);
    const [row] = await one.query(setting, []);
    expect([row?.seen ?? "", row?.role === "mainstay_read"]).toEqual(["", false]);
    await one.end();
  });
});

describe("keys", () => {
  const make = (more: { expiresInMs?: number } = {}) => {
    const keyId = randomUUID().replaceAll("-", "").slice(0, 16);
    return createKey(database, { keyId, workspace: "alpha", name: "n", secretHash: "ab".repeat(32), scopes: ["runs:read"], ...more }).then(() => keyId);
  };

  it("are found live, expired on the database's clock, revoked, or not at all", async () => {
    const find = createFindKey(database, { giveUpMs: 5_000 });
    const live = await make();
    const brief = await make({ expiresInMs: 1 });
    const revoked = await make();
    expect((await revokeKey(database, revoked)).kind).toBe("revoked");
    expect(await find(live)).toMatchObject({ kind: "live", workspace: "alpha", scopes: ["runs:read"], secretHash: Buffer.alloc(32, 0xab) });
    await until("the brief one to expire", async () => (await find(brief)).kind === "expired");
    expect((await find(revoked)).kind).toBe("revoked");
    expect(await find("nobody")).toEqual({ kind: "not_found" });
    expect(await revokeKey(database, "nobody")).toEqual({ kind: "not_found" });
  });

  it("keep the instant of their first revocation", async () => {
    const keyId = await make();
    const first = await revokeKey(database, keyId);
    expect(await revokeKey(database, keyId)).toEqual(first);
    expect((await listKeys(database, { workspace: "alpha" })).find((row) => row.keyId === keyId)?.revokedAt).toBeInstanceOf(Date);
    expect(await listKeys(database, { workspace: "nowhere" })).toEqual([]);
  });

  it("share one statement when many are asked for at once, and a read never began before it was asked", async () => {
    const sizes: number[] = [];
    const find = createFindKey(database, { giveUpMs: 5_000, onFlush: (_op, rows) => sizes.push(rows) });
    const keyId = await make();
    const first = find(keyId);
    await new Promise((resolve) => setImmediate(resolve));
    await revokeKey(database, keyId);
    const [, ...later] = await Promise.all([first, ...Array.from({ length: 50 }, () => find(keyId))]);
    expect(later.map((found) => found.kind)).toEqual(Array.from({ length: 50 }, () => "revoked"));
    expect(sizes.length).toBeLessThanOrEqual(3);
  });
});
