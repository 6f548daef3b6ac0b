import { describe, expect, it } from "vitest";
import { readConfig } from "@mainstay/config";
import { runProgram } from "./run-program.js";

/** Runs a command line in a world of its own and answers all it said. */
async function run(args: string[], env: Record<string, string> = {}) {
  const said = { out: "", err: "" };
  const status = await runProgram(args, {
    out: (text) => { said.out += text; },
    err: (text) => { said.err += text; },
    config: () => readConfig("cli", env),
    env,
    interrupted: new AbortController().signal,
    readInput: () => Promise.resolve(""),
  }, "1.2.3");
  return { status, ...said };
}

describe("the command line", () => {
  it("prints help and version as data, with status 0", async () => {
    expect(await run(["--version"])).toEqual({ status: 0, out: "1.2.3\n", err: "" });
    const help = await run(["--help"]);
    expect([help.status, help.err]).toEqual([0, ""]);
    expect(help.out).toContain("Examples:");
    expect(help.out).toContain("7 the awaited run failed");
  });

  it("answers 2 to a wrong command line, with a suggestion, and prints no data", async () => {
    const wrong = await run(["rum", "create"]);
    expect([wrong.status, wrong.out]).toEqual([2, ""]);
    expect(wrong.err).toContain("Did you mean run?");
    expect((await run(["run", "get", "bare-id"])).status).toBe(2);
    expect((await run(["key", "create", "-s", "nope"])).err).toContain("runs:create");
    expect((await run(["run", "list", "--status", "nope"])).status).toBe(2);
    expect((await run(["run", "create", "w", "-i", "{"], { MAINSTAY_KEY: `mst_abcdefgh_${"s".repeat(32)}` })).status).toBe(2);
  });

  it("names one next step when a key or the database address is missing", async () => {
    const keyless = await run(["run", "list"]);
    expect(keyless.status).toBe(4);
    expect(keyless.err).toMatch(/^error: .*\[error\]\nnext: {2}set MAINSTAY_KEY/);
    expect(await run(["key", "list"])).toMatchObject({ status: 2, err: expect.stringContaining("DATABASE_URL") as string });
  });

  it("answers 6 when nobody answers, without the key in the text, and as one object with --json", async () => {
    const secret = "s".repeat(32);
    const args = ["doctor", "--url", "http://127.0.0.1:9", "--api-key", `mst_abcdefgh_${secret}`, "--json"];
    const away = await run(args);
    expect([away.status, away.out]).toEqual([6, ""]);
    expect(JSON.parse(away.err)).toMatchObject({ error: "unreachable" });
    expect(away.err).not.toContain(secret);
  }, 20_000);

  it("names every wrong variable at once, with status 2", async () => {
    const wrong = await run(["run", "list"], { MAINSTAY_LEASE_MS: "x", MAINSTAY_SLOTS: "-1" });
    expect(wrong.status).toBe(2);
    expect(wrong.err).toContain("MAINSTAY_LEASE_MS");
    expect(wrong.err).toContain("MAINSTAY_SLOTS");
  });
});
