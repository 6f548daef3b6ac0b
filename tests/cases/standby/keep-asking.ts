import { setTimeout as sleep } from "node:timers/promises";
import { projectId } from "@mainstay/contract";

/** How often each status was answered; `none`: no answer came. */
type Statuses = Readonly<Record<string, number>>;

/** What an api answered to a client that does not try again. */
export type Answers = Readonly<{ writes: Statuses; reads: Statuses; accepted: readonly string[] }>;

/** Creates a run of `probe-hold` and reads a known one, both every so many milliseconds, until `stop`. */
export function keepAsking({ url, key, runId, everyMs }: { url: string; key: string; runId: string; everyMs: number }): { stop: () => Promise<Answers> } {
  const writes: Record<string, number> = {};
  const reads: Record<string, number> = {};
  const accepted: string[] = [];
  const asked: Promise<void>[] = [];
  const authorization = `Bearer ${key}`;
  const count = (into: Record<string, number>, status: string): void => { into[status] = (into[status] ?? 0) + 1; };
  const write = async (): Promise<void> => {
    const answer = await fetch(`${url}/runs`, {
      method: "POST", headers: { authorization, "content-type": "application/json" }, body: JSON.stringify({ workflowId: "probe-hold", inputs: { holdMs: 0 } }),
    });
    const body = (await answer.json()) as { runId?: string };
    count(writes, String(answer.status));
    if (answer.ok && body.runId !== undefined) accepted.push(body.runId);
  };
  const read = async (): Promise<void> => {
    const answer = await fetch(`${url}/runs/${projectId(runId)}`, { headers: { authorization } });
    await answer.arrayBuffer();
    count(reads, String(answer.status));
  };
  let going = true;
  const loop = (async () => {
    while (going) {
      asked.push(write().catch(() => { count(writes, "none"); }), read().catch(() => { count(reads, "none"); }));
      await sleep(everyMs);
    }
  })();
  return {
    async stop() {
      going = false;
      await loop;
      await Promise.all(asked);
      return { writes, reads, accepted };
    },
  };
}
