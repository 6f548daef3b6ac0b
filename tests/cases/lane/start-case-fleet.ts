import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, Unreachable } from "@mainstay/sdk";
import { startTestFleet, until } from "@mainstay/testing";
import { checkStanding } from "../standing/check-standing.js";
import { startStandingWatch } from "../standing/start-standing-watch.js";
import type { Begun } from "../standing/watched.js";
import type { CaseFleet, CaseFleetOptions, Scale } from "./case-on.js";

const folder = fileURLToPath(new URL("../../../.data/tests/cases", import.meta.url));

/** A fleet with what the lane does to it. */
export type HeldFleet = Readonly<{ fleet: CaseFleet; check: () => Promise<void>; release: () => Promise<void> }>;

/** Starts a fleet and its watch. `check` holds it against the standing checks, once; `release` stops it unchecked. */
export async function startCaseFleet({ id, scale, canary, options }: { id: string; scale: Scale; canary: string; options: CaseFleetOptions }): Promise<HeldFleet> {
  const { receivers = [], except = {}, ...rest } = options;
  mkdirSync(folder, { recursive: true });
  const name = `${id.toLowerCase()}-${scale}-${process.pid}-${randomUUID().slice(0, 4)}`;
  const ledger = path.join(folder, `${name}.jsonl`);
  const test = await startTestFleet({ name, times: scale === "full" ? "default" : "scaled", ...rest, env: { MAINSTAY_TEST_LEDGER: ledger, ...rest.env } });
  const watch = startStandingWatch(test.sql);
  const accepted: string[] = [];
  const begun = (): Begun[] => (existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Begun) : []);
  let checked = false;
  let released: ReturnType<CaseFleet["stop"]> | undefined;

  const check = async (): Promise<void> => {
    if (checked || released !== undefined) return;
    await checkStanding({ fleet: test, receivers, accepted: () => accepted, begun, watch, canaries: [canary], except });
    checked = true;
  };
  const release = (how?: { withinMs?: number }): ReturnType<CaseFleet["stop"]> => {
    released ??= watch.stop().then(() => test.stop(how)).finally(() => { rmSync(ledger, { force: true }); });
    return released;
  };
  const fleet: CaseFleet = {
    ...test,
    accept: (runId) => void accepted.push(runId),
    begun,
    peakSessions: watch.peakSessions,
    async submit(workflowId, inputs, { withinMs } = {}) {
      const idempotencyKey = randomUUID();
      const runId = await until(`an api to accept a run of ${workflowId}`, async () => {
        const client = createClient({ url: test.apiUrl(), key: test.key, retryForMs: 500 });
        try {
          return (await client.runs.create(workflowId, { canary, ...inputs }, { idempotencyKey })).runId;
        } catch (error) {
          if (error instanceof Unreachable) return undefined;
          throw error;
        }
      }, withinMs);
      checked = false;
      accepted.push(runId);
      return runId;
    },
    async stop(how) {
      await check();
      return release(how);
    },
  };
  return { fleet, check, release: async () => { await release(); } };
}
