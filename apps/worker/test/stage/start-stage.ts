import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { FleetProcess } from "@mainstay/fleet";
import { createClient, type Client } from "@mainstay/sdk";
import { startReceiver, startTestFleet, until, type Receiver, type TestFleet, type TestFleetOptions } from "@mainstay/testing";

/** What a code node wrote down. `began`: its execution really started. */
export type Noted = Readonly<{ what: string; runId: string; nodeId: string; fence: string; attempt: number; pid: number; at: number } & Record<string, unknown>>;

/** A dead letter as it is stored, in short. */
export type Letter = Readonly<{ scope: string; nodeId: string | null; class: string; code: string; disposition: string; state: string; attempts: number }>;

/** Real workers that serve a module of test workflows, an api to submit to, the outside world, and the code nodes' own ledger. */
export type Stage = TestFleet & Readonly<{
  receiver: Receiver;
  client: Client;
  noted: (runId?: string) => readonly Noted[];
  /** Submits a run and answers its bound id; `url` of the receiver is laid under the input. */
  submit: (workflowId: string, input?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Submits a run and waits for its end. */
  run: (workflowId: string, input?: Readonly<Record<string, unknown>>) => Promise<Ended>;
  ended: (runId: string, withinMs?: number) => Promise<Ended>;
  /** The worker that holds the run, or held it last. */
  holderOf: (runId: string) => Promise<FleetProcess>;
  letters: (runId: string) => Promise<Letter[]>;
  effects: (runId: string) => Promise<StoredEffect[]>;
}>;

/** How a run ended, out of its log. */
export type Ended = Readonly<{ runId: string; status: string; types: readonly string[]; outputs: unknown; code: unknown }>;

/** A row of the ledger, in short. */
export type StoredEffect = Readonly<{ key: string; state: string; launchNo: number; via: string | null; answer: unknown; asks: number }>;

const folder = fileURLToPath(new URL("../../../../.data/tests/worker", import.meta.url));
export const bare = (runId: string): string => runId.slice(runId.indexOf("/") + 1);

/** Starts it brokerless with one worker; `workflows` names a module of ../workflows. `stop` ends the receiver too. */
export async function startStage({ workflows, env, ...options }: TestFleetOptions & { workflows: string }): Promise<Stage> {
  mkdirSync(folder, { recursive: true });
  const ledger = path.join(folder, `${randomUUID()}.jsonl`);
  const noted = follow(ledger);
  const receiver = await startReceiver();
  const fleet = await startTestFleet({
    broker: "none", api: 1, relay: 0, supervisors: 0, workers: 1, ...options,
    workflows: fileURLToPath(new URL(`../workflows/${workflows}.mjs`, import.meta.url)),
    env: { MAINSTAY_TEST_LEDGER: ledger, ...env },
  });
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const submit: Stage["submit"] = async (workflowId, input = {}) => (await client.runs.create(workflowId, { url: receiver.url, ...input })).runId;
  const ended: Stage["ended"] = async (runId, withinMs = 40_000) => {
    const status = (await fleet.waitEnded([runId], withinMs)).get(runId) ?? "unknown";
    const log = await fleet.log(runId);
    const [row] = await fleet.sql<{ outputs: unknown; code: unknown }>("select outputs, error->'details'->>'code' as code from runs where id = $1", [bare(runId)]);
    return { runId, status, types: log.map(({ type }) => type), outputs: row?.outputs, code: row?.code };
  };
  return {
    ...fleet, receiver, client, submit, ended,
    run: async (workflowId, input) => ended(await submit(workflowId, input)),
    noted: (runId) => {
      const lines = noted.read();
      return runId === undefined ? lines : lines.filter((line) => line.runId === runId);
    },
    holderOf: (runId) => until(`a holder of ${runId}`, async () => {
      const acquired = (await fleet.log(runId)).filter(({ type }) => type === "lease.acquired").at(-1);
      return fleet.fleet.processes().find(({ incarnation }) => incarnation === acquired?.payload["instanceId"]);
    }),
    letters: (runId) => fleet.sql<Letter>(
      `select scope, node_id as "nodeId", class, code, disposition, state, attempts from dead_letters where run_id = $1 order by created_at, scope`, [bare(runId)]),
    effects: (runId) => fleet.sql<StoredEffect>(
      `select key, state, launch_no as "launchNo", settled_via as via, answer, asks from effects where run_id = $1 order by key`, [bare(runId)]),
    async stop(how) {
      noted.close();
      const exits = await fleet.stop(how);
      await receiver.stop();
      return exits;
    },
  };
}

/** Reads a file of JSON lines as it grows, each line once. */
function follow(file: string): { read: () => readonly Noted[]; close: () => void } {
  const fd = openSync(file, "a+");
  const lines: Noted[] = [];
  const chunk = Buffer.alloc(65_536);
  let at = 0;
  let rest = "";
  return {
    read: () => {
      for (let bytes = readSync(fd, chunk, 0, chunk.length, at); bytes > 0; bytes = readSync(fd, chunk, 0, chunk.length, at)) {
        at += bytes;
        const parts = (rest + chunk.toString("latin1", 0, bytes)).split("\n"); // the ledger is plain ASCII
        rest = parts.pop() ?? "";
        lines.push(...parts.map((line) => JSON.parse(line) as Noted));
      }
      return lines;
    },
    close: () => {
      closeSync(fd);
      rmSync(file);
    },
  };
}
