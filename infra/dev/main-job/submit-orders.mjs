import { randomUUID } from "node:crypto";

/**
 * Submits `count` orders through the SDK's client at once. They differ in how long they prepare, so that at any instant
 * some are before their effect, some in it and some past it. Answers run id → business key of the accepted ones.
 */
export async function submitOrders(client, { count, receiverUrl, prepareWithinMs }) {
  const batch = randomUUID();
  const accepted = await Promise.all(Array.from({ length: count }, async (_, index) => {
    const businessKey = `${batch}-${index + 1}`;
    const { runId } = await client.runs.create("order", {
      url: receiverUrl, businessKey, timeoutMs: 10_000, prepareMs: Math.round((index * prepareWithinMs) / count),
    });
    return [runId, businessKey];
  }));
  return new Map(accepted);
}
