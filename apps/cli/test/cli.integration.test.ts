import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createTestDatabase, startTestFleet, until, type TestDatabase, type TestFleet } from "@mainstay/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const entry = fileURLToPath(new URL("../dist/main.js", import.meta.url));

type Said = { status: number | null; out: string; err: string };

/** Runs the built command line as a process of its own. */
function mainstay(args: readonly string[], env: Record<string, string>, whileItRuns?: (said: Said, kill: (signal: NodeJS.Signals) => void) => void): Promise<Said> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [entry, ...args], { env: { PATH: process.env["PATH"], NO_COLOR: "1", ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const said: Said = { status: null, out: "", err: "" };
    const hear = (): void => { whileItRuns?.(said, (signal) => child.kill(signal)); };
    child.stdout.on("data", (chunk: Buffer) => { said.out += chunk.toString(); hear(); });
    child.stderr.on("data", (chunk: Buffer) => { said.err += chunk.toString(); hear(); });
    child.on("close", (status) => { resolve({ ...said, status }); });
  });
}

describe("against the database", () => {
  let database: TestDatabase;
  beforeAll(async () => { database = await createTestDatabase(); });
  afterAll(() => database.drop());
  const run = (...args: string[]) => mainstay(args, { DATABASE_URL: database.url });

  it("makes, lists and revokes keys; the secret is on stdout once", async () => {
    const made = await run("key", "create", "-w", "acme", "-n", "ci", "-s", "runs:create,runs:read", "--expires", "90d", "--json");
    expect(made.status).toBe(0);
    const { key, keyId, scopes, expiresAt } = JSON.parse(made.out) as { key: string; keyId: string; scopes: string[]; expiresAt: string };
    expect(key).toMatch(new RegExp(`^mst_${keyId}_[A-Za-z0-9_-]{43}$`));
    expect(scopes).toEqual(["runs:create", "runs:read"]);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(89 * 86_400_000);
    const listed = await run("key", "list");
    expect(listed.out).toMatch(new RegExp(`${keyId} +acme +ci +live`));
    expect(listed.out).not.toContain(key.split("_").slice(2).join("_")); // the secret may hold an underscore itself
    expect((await run("key", "revoke", keyId)).status).toBe(0);
    expect((await run("key", "list", "-w", "acme")).out).toContain("revoked");
    expect((await run("key", "revoke", "nobody0000")).status).toBe(3);
    expect((await run("key", "create", "-o", "id")).out).toMatch(/^mst_[^\n]+\n$/);
  });

  it("says that the schema is up to date, and prints no data for it", async () => {
    expect(await run("migrate")).toEqual({ status: 0, out: "", err: "the schema is up to date\n" });
  });

  it("answers 6 and one next step when the database is away", async () => {
    const away = await mainstay(["key", "list"], { DATABASE_URL: "postgres://nobody@127.0.0.1:9/nowhere" });
    expect(away.status).toBe(6);
    expect(away.err).toContain("next:  check DATABASE_URL");
  });
});

/** The fleet's own default times: nobody is taken over here, and a loaded machine may be slow. */
const calm = {
  MAINSTAY_HEARTBEAT_MS: "1000", MAINSTAY_LEASE_MS: "3000", MAINSTAY_STATEMENT_TIMEOUT_MS: "2000", MAINSTAY_IDLE_TX_TIMEOUT_MS: "1000",
  MAINSTAY_WEDGED_AFTER_MS: "10000",
};

describe("against a fleet", () => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await startTestFleet({ broker: "none", relay: 0, workers: 1, supervisors: 0, name: "cli", env: calm });
  }, 60_000);
  afterAll(() => fleet.stop());
  const env = (): Record<string, string> => ({ MAINSTAY_URL: fleet.apiUrl(), MAINSTAY_KEY: fleet.key });
  const run = (...args: string[]) => mainstay(args, env());

  it("awaits a run and tells its end by the exit status", async () => {
    const done = await run("run", "create", "conformance-identity", "-i", '{"payload":{"a":1}}', "--wait", "--json");
    expect(done.status).toBe(0);
    expect(JSON.parse(done.out)).toMatchObject({ status: "completed" });
    const failed = await run("run", "create", "conformance-failure", "--wait", "-o", "id");
    expect([failed.status, failed.out]).toEqual([7, expect.stringMatching(/^test\/[0-9a-f-]{36}\n$/)]);
    expect(failed.err).toContain("failed: ");
    const late = await run("run", "create", "conformance-cancellable", "--wait", "--timeout", "1s");
    expect(late.status).toBe(9);
  });

  it("follows, shows, lists and cancels runs", async () => {
    const created = await run("run", "create", "conformance-cancellable", "-t", "spring", "-o", "id");
    const runId = created.out.trim();
    const watched = mainstay(["run", "watch", runId, "-o", "ndjson"], env());
    await until("the run to be held", async () => (JSON.parse((await run("run", "get", runId, "--json")).out) as { status: string }).status === "running");
    expect((await run("run", "list", "--workflow", "conformance-cancellable")).out).toContain(runId);
    const cancelled = await run("run", "cancel", runId, "-r", "enough", "--json");
    expect(JSON.parse(cancelled.out)).toMatchObject({ runId });
    const log = await watched;
    expect(log.status).toBe(8);
    const types = log.out.trim().split("\n").map((line) => (JSON.parse(line) as { type: string }).type);
    expect([types[0], types.at(-1)]).toEqual(["lease.acquired", "run.cancelled"]);
    expect((await run("run", "cancel", runId)).status).toBe(5);
    expect((await run("run", "effects", runId, "--json")).out).toBe("[]\n");
  });

  it("maps the api's refusals to exit statuses, with the request id", async () => {
    const unknown = await run("run", "create", "nope");
    expect(unknown.status).toBe(3);
    expect(unknown.err).toMatch(/\[not_found\]\nnext: {2}.*\nrequest id: [0-9a-f-]{36}/);
    expect((await run("run", "get", "other/0190a1b2-0000-7000-8000-000000000000")).status).toBe(4);
    expect((await mainstay(["run", "list"], { ...env(), MAINSTAY_KEY: `mst_${"0".repeat(16)}_${"A".repeat(43)}` })).status).toBe(4);
    expect((await run("run", "create", "conformance-idempotent", "-i", "{}")).status).toBe(1);
  });

  it("lets the doctor fail for the roles that are missing", async () => {
    const doctor = await run("doctor");
    expect(doctor.status).toBe(1);
    expect(doctor.out).toMatch(/worker +ok +1 live/);
    expect(doctor.out).toMatch(/supervisor +failed +0 live/);
  });

  it("ends with 130 at Ctrl-C", async () => {
    const { out } = await run("run", "create", "conformance-cancellable", "-o", "id");
    let interrupts = 0;
    const watched = await mainstay(["run", "watch", out.trim()], env(), (said, kill) => {
      if (interrupts > 0 || !said.out.includes("lease.acquired")) return;
      interrupts += 1; // a second Ctrl-C would end the process at once, by the signal
      kill("SIGINT");
    });
    expect(watched.status).toBe(130);
    expect((await run("run", "cancel", out.trim())).status).toBe(0);
  });
});
