import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { startReceiver, type Receiver } from "@mainstay/testing";
import type { CaseFleet, CaseFleetOptions, CaseOn } from "../lane/define-case.js";

/** A fleet of a case around Redis or the outbox. */
export type DoorbellFleet = CaseFleet & Readonly<{
  receiver: Receiver;
  /** `submit` with what `charge` needs: the receiver and a business key of its own. */
  order: (workflowId: string, inputs?: Readonly<Record<string, unknown>>) => Promise<string>;
}>;

const module = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The environment of a worker that serves the second pool, `queue`. */
export const queueWorker = { MAINSTAY_POOL: "queue", MAINSTAY_WORKFLOWS: module("./queued-workflows.mjs") } as const;

/** Starts it; the receiver ends after the fleet. */
export async function startDoorbellFleet(on: CaseOn, options: CaseFleetOptions = {}): Promise<DoorbellFleet> {
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const fleet = await on.startFleet({ workflows: module("./workflows.mjs"), receivers: [receiver], ...options });
  return {
    ...fleet, receiver,
    order: (workflowId, inputs = {}) => fleet.submit(workflowId, { url: receiver.url, businessKey: randomUUID(), ...inputs }),
  };
}
