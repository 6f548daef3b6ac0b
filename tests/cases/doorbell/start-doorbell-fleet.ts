import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, Unreachable } from "@mainstay/sdk";
import { startReceiver, until, type Receiver, type TestFleetOptions } from "@mainstay/testing";
import type { CaseFleet, CaseOn } from "../lane/define-case.js";

/** An execution that really began: the node's own code wrote it. `at`: epoch milliseconds. */
export type Begun = Readonly<{ runId: string; nodeId: string; fence: string; attempt: number; at: number; pid: number }>;

/** A fleet of a case around Redis or the outbox. */
export type DoorbellFleet = CaseFleet & Readonly<{
  receiver: Receiver;
  /** What the code nodes wrote so far. */
  begun: () => readonly Begun[];
  /** Accepts a run and answers its bound id; an api that is away is tried again under one idempotency key. */
  submit: (workflowId: string, inputs?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** The same, with what `charge` needs: the receiver and a business key of its own. */
  order: (workflowId: string, inputs?: Readonly<Record<string, unknown>>) => Promise<string>;
}>;

const folder = fileURLToPath(new URL("../../../.data/tests/cases", import.meta.url));
const module = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The environment of a worker that serves the second pool, `queue`. */
export const queueWorker = { MAINSTAY_POOL: "queue", MAINSTAY_WORKFLOWS: module("./queued-workflows.mjs") } as const;

/** Starts it; the receiver ends after the fleet. */
export async function startDoorbellFleet(on: CaseOn, options: TestFleetOptions = {}): Promise<DoorbellFleet> {
  mkdirSync(folder, { recursive: true });
  const ledger = path.join(folder, `${randomUUID()}.jsonl`);
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ workflows: module("./workflows.mjs"), ...options, env: { MAINSTAY_TEST_LEDGER: ledger, ...options.env } });
  const submit = (workflowId: string, inputs: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const idempotencyKey = randomUUID();
    return until(`an api to accept a run of ${workflowId}`, async () => {
      try {
        const client = createClient({ url: fleet.apiUrl(), key: fleet.key, retryForMs: 500 });
        return (await client.runs.create(workflowId, inputs, { idempotencyKey })).runId;
      } catch (error) {
        if (error instanceof Unreachable) return undefined;
        throw error;
      }
    });
  };
  return {
    ...fleet, receiver, submit,
    begun: () => (existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Begun) : []),
    order: (workflowId, inputs = {}) => submit(workflowId, { url: receiver.url, businessKey: randomUUID(), ...inputs }),
  };
}
