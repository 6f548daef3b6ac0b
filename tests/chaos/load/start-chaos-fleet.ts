import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, Unreachable } from "@mainstay/sdk";
import { startReceiver, startTestFleet, until, type Receiver, type TestFleet, type TestFleetOptions } from "@mainstay/testing";
import type { Begun } from "../../cases/standing/watched.js";

/** A fleet in miniature with a receiver, and the ledger its code nodes write. */
export type ChaosFleet = TestFleet & Readonly<{
  receiver: Receiver;
  /** What the code nodes wrote so far. */
  begun: () => readonly Begun[];
  /** Submits a run and answers its id. It goes on trying other apis, under one idempotency key, until one has answered. */
  submit: (workflowId: string, inputs: Readonly<Record<string, unknown>>) => Promise<string>;
}>;

const workflows = fileURLToPath(new URL("./workflows.mjs", import.meta.url));
const folder = fileURLToPath(new URL("../../../.data/tests/chaos", import.meta.url));

/** Starts it; `stop` ends the receiver too. */
export async function startChaosFleet(options: TestFleetOptions = {}): Promise<ChaosFleet> {
  mkdirSync(folder, { recursive: true });
  const ledger = path.join(folder, `${randomUUID()}.jsonl`);
  const receiver = await startReceiver();
  const fleet = await startTestFleet({ workflows, ...options, env: { MAINSTAY_TEST_LEDGER: ledger, ...options.env } });
  return {
    ...fleet,
    receiver,
    begun: () => (existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Begun) : []),
    submit: async (workflowId, inputs) => {
      const idempotencyKey = randomUUID();
      return until(`an api to accept a run of ${workflowId}`, async () => {
        const client = createClient({ url: fleet.apiUrl(), key: fleet.key, retryForMs: 500 });
        try {
          return (await client.runs.create(workflowId, inputs, { idempotencyKey })).runId;
        } catch (error) {
          if (error instanceof Unreachable) return undefined;
          throw error;
        }
      });
    },
    async stop(how) {
      const exits = await fleet.stop(how);
      await receiver.stop();
      return exits;
    },
  };
}
