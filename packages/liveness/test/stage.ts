import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  beginIncarnation, createAccept, createDatabase, sweepRuns, type Database, type ReleaseLimits,
} from "@mainstay/database";
import { beginLiveness, type Liveness, type LivenessOptions } from "@mainstay/liveness";
import { createLogger, type LogSink } from "@mainstay/telemetry";
import pg from "pg";

/** A lease scaled to a third of the default one. */
export const scaled = { heartbeatMs: 250, leaseMs: 1_000, wedgedAfterMs: 1_500, suspicionGraceMs: 100, deathWatch: true, statementTimeoutMs: 2_000, idleTxTimeoutMs: 500 };
/** Where nobody may lapse: room enough for a machine that runs other tests too. */
export const roomy = { ...scaled, heartbeatMs: 500, leaseMs: 2_000, wedgedAfterMs: 4_000 };
export const limits: ReleaseLimits = { crashLimit: 5, lossLimit: 20, handBackLimit: 20, backoffBaseMs: 1_000, retentionDays: 30 };


export type Peer = { incarnation: string; liveness: Liveness; lost: string[]; log: () => Record<string, unknown>[] };
export type Child = { incarnation: string; port: number; process: ChildProcess; said: () => Record<string, unknown>[]; tell: (word: string) => void };

/** Incarnations, in this process and in processes of their own, on one database. */
export type Stage = {
  db: Database;
  peer: (options?: Partial<LivenessOptions> & { settings?: Partial<typeof scaled> & { databaseDirectUrl?: string } }) => Promise<Peer>;
  child: (settings?: Partial<typeof scaled>) => Promise<Child>;
  /** An incarnation that never beats. */
  silent: (leaseMs?: number) => Promise<string>;
  /** Has `owner` claim so many new runs; answers their ids. */
  hold: (owner: string, count: number) => Promise<string[]>;
  sql: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
  close: () => Promise<void>;
};

export function createStage(url: string): Stage {
  const db = createDatabase({ url, applicationName: "test", poolSize: 4, statementTimeoutMs: 2_000, idleInTransactionMs: 1_000 });
  const accept = createAccept(db, { dispatchBoundMs: 0, giveUpMs: 5_000 });
  const admin = new pg.Pool({ connectionString: url, max: 2 });
  admin.on("error", () => undefined);
  const peers: Liveness[] = [];
  const children: ChildProcess[] = [];

  const claim = async (owner: string, count: number): Promise<string[]> => {
    const requires = `pool:${randomUUID()}`; // runs that were lost before are not claimed again
    const ids = Array.from({ length: count }, () => randomUUID());
    await Promise.all(ids.map((id) => accept({
      id, workspace: "test", workflowId: "w", specHash: "h", pool: "default", requires, input: "{}", inputDigest: "00".repeat(32),
      subject: {}, nextNodes: [{ id: "a", typeId: "core.noop" }],
    })));
    const held = await sweepRuns(db, { incarnation: owner, requires: [requires], holding: 0, leaseMs: 1_000 }, ids.map(() => randomUUID()));
    if (held.length !== count) throw new Error(`expected ${count} claims, seen ${held.length}`);
    return held.map(({ id }) => id);
  };

  return {
    db,
    hold: claim,
    peer: async ({ settings, ...options } = {}) => {
      const lines: string[] = [];
      const lost: string[] = [];
      const sink: LogSink = { write: (line) => void lines.push(line) };
      const incarnation = randomUUID();
      const liveness = await beginLiveness({
        role: "worker", pool: "default", host: "test", version: "0", slots: 10, incarnation, limits, attests: "loop",
        config: { databaseDirectUrl: url, ...scaled, ...settings },
        probe: { host: "127.0.0.1", port: 0 }, onLost: (reason) => void lost.push(reason),
        readiness: () => ({ ready: true }), metricsText: () => Promise.resolve("metrics\n"),
        logger: createLogger({ role: "worker", incarnation, level: "debug", sink }), ...options,
      });
      peers.push(liveness);
      return { incarnation, liveness, lost, log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
    },
    child: async (settings = {}) => {
      const program = spawn(process.execPath, [fileURLToPath(new URL("./holder.mjs", import.meta.url))], {
        stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, HOLDER: JSON.stringify({ config: { databaseDirectUrl: url, ...scaled, ...settings }, limits }) },
      });
      children.push(program);
      const said: Record<string, unknown>[] = [];
      const begun = await new Promise<Record<string, unknown>>((resolve, reject) => {
        program.once("exit", (code) => reject(new Error(`the holder exited with ${code} before it had begun`)));
        createInterface({ input: program.stdout }).on("line", (line) => {
          const word = JSON.parse(line) as Record<string, unknown>;
          said.push(word);
          if (word.msg === "begun") resolve(word);
        });
      });
      return {
        incarnation: String(begun.incarnation), port: Number(begun.port), process: program, said: () => said,
        tell: (word) => void program.stdin.write(`${word}\n`),
      };
    },
    silent: async (leaseMs = scaled.leaseMs) => {
      const id = randomUUID();
      await beginIncarnation(db, { id, role: "worker", pool: "default", host: "test", version: "0", leaseMs });
      return id;
    },
    sql: async <Row>(text: string, values: unknown[] = []) => (await admin.query(text, values)).rows as Row[],
    close: async () => {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(peers.map((liveness) => liveness.retire()));
      await db.end();
      await admin.end();
    },
  };
}
