import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Channel, ReleaseLimits } from "@mainstay/database";
import { countReleased, logEvents, type Logger, type Metrics } from "@mainstay/telemetry";
import { openBoard } from "./board/board.js";
import { toMs } from "./board/monotonic.js";
import { answerProbe, type Readiness } from "./probe/answer-probe.js";
import type { FromThread, Identity, LivenessSettings, LostReason, ThreadOrders, ToThread } from "./thread/messages.js";

/** Who begins, and what it wants to hear. */
export type LivenessOptions = Identity & {
  /** Minted by default. A logger made before the start wants to know it. */
  incarnation?: string;
  /** A fleet's configuration fits as it is. */
  config: LivenessSettings;
  limits: ReleaseLimits;
  /**
   * `audit`: the work path attests by calling `attest()` after each round through the working pool, as a role must
   * that holds runs. `loop`: coming round of the event loop is enough.
   */
  attests: "audit" | "loop";
  /** Where health and metrics are served; absent for a process that serves them itself. Port 0: any free one. */
  probe?: { host: string; port: number };
  /** Hints this process hears; default by role: relay `dispatch`, worker `work` and `stop`, api `log`. */
  channels?: readonly Channel[];
  /**
   * The incarnation is over although nobody asked it to end. What it held belongs to others: start no effect, abort
   * every node, drop everything, then exit with 1 or begin anew. Called once.
   */
  onLost: (reason: LostReason) => void;
  onHint?: (channel: Channel) => void;
  /** What main says of itself; a heartbeat that is not answered is told by the thread. */
  readiness: () => Readiness | Promise<Readiness>;
  metricsText: () => Promise<string>;
  /** Counted and stamped here: lapsed incarnations, runs taken over, the last heartbeat. */
  metrics?: Pick<Metrics, "incarnationsLapsed" | "takeovers" | "heartbeat" | "runsFinished" | "deadLettersOpened" | "crashLimit" | "workflowLabel">;
  logger: Logger;
};

/** One incarnation, from its beginning to its end. */
export type Liveness = {
  /** Opaque, random, new with every start. */
  readonly incarnation: string;
  /** Of the probes; undefined without. */
  readonly port: number | undefined;
  /** The work path has just reached the database through the working pool. */
  attest: () => void;
  /** `performance.now()` milliseconds of this thread until which no peer can have lapsed this incarnation; 0 once it is over. */
  validUntil: () => number;
  isValid: () => boolean;
  /** Hears a channel's hints until the returned function is called. */
  onWake: (channel: Channel, listener: () => void) => () => void;
  /** Tells the fleet that this process claims nothing more; probes answer "not ready" from now on. */
  drain: () => Promise<void>;
  /**
   * Says good-bye, releases what is still held, ends probes, sessions and thread. Never rejects: when the database is
   * away, the lapse does it. Safe to call again, and after the loss.
   */
  retire: (withinMs?: number) => Promise<void>;
};

const channelsOf = {
  api: ["log"], relay: ["dispatch"], worker: ["work", "stop"], supervisor: [],
} as const satisfies Record<Identity["role"], readonly Channel[]>;

const RETIRE_WITHIN_MS = 3_000;

/**
 * Begins this process's incarnation: a thread with sessions of its own proves its life, watches its peers and serves
 * the probes. Resolves once the incarnation stands in the database; while that is away it is tried again for ever.
 * Rejects when the probe's port is taken, or the database refuses for a reason that waiting does not mend.
 */
export async function beginLiveness(options: LivenessOptions): Promise<Liveness> {
  const { config, logger, role, host, version, pool, slots, metrics } = options;
  const incarnation = options.incarnation ?? randomUUID();
  const board = openBoard();
  const looped = (): void => {
    const now = process.hrtime.bigint();
    board.set("looped", now);
    if (options.attests === "loop") board.set("attested", now);
  };
  looped();
  board.set("attested", process.hrtime.bigint());
  const loop = setInterval(looped, Math.min(1_000, config.heartbeatMs, config.wedgedAfterMs / 4));
  loop.unref();

  const orders: ThreadOrders = {
    incarnation, limits: options.limits, board: board.buffer, probe: options.probe,
    channels: options.channels ?? channelsOf[role],
    identity: { role, host, version, ...(pool === undefined ? {} : { pool }), ...(slots === undefined ? {} : { slots }) },
    settings: {
      databaseDirectUrl: config.databaseDirectUrl, heartbeatMs: config.heartbeatMs, leaseMs: config.leaseMs,
      wedgedAfterMs: config.wedgedAfterMs, suspicionGraceMs: config.suspicionGraceMs, deathWatch: config.deathWatch,
      statementTimeoutMs: config.statementTimeoutMs, idleTxTimeoutMs: config.idleTxTimeoutMs,
    },
  };
  const thread = new Worker(new URL("./thread/main.js", import.meta.url), { workerData: orders, name: "heartbeat", execArgv: [] });
  const send = (message: ToThread): void => thread.postMessage(message);
  const listeners = new Map<Channel, Set<() => void>>();
  const pending = new Map<number, (error: string | undefined) => void>();
  let state: "beginning" | "living" | "draining" | "over" = "beginning";
  let lastOrder = 0;
  let retiring: Promise<void> | undefined;

  const lose = (reason: LostReason): void => {
    board.set("validUntil", 0n);
    for (const settle of pending.values()) settle(undefined);
    if (state === "over" || state === "beginning") return; // the start rejects instead
    state = "over";
    options.onLost(reason);
  };
  const order = (message: { kind: "drain" } | { kind: "retire"; withinMs: number }): Promise<void> => new Promise((resolve, reject) => {
    const id = (lastOrder += 1);
    pending.set(id, (error) => {
      pending.delete(id);
      if (error === undefined) resolve();
      else reject(new Error(`${message.kind}: ${error}`));
    });
    send({ ...message, id });
  });
  const hear = (message: FromThread): void => {
    switch (message.kind) {
      case "hint":
        options.onHint?.(message.channel);
        for (const listener of listeners.get(message.channel) ?? []) listener();
        break;
      case "log": logger[message.level](message.event, message.fields); break;
      case "lost": lose(message.reason); break;
      case "lapsed": metrics?.incarnationsLapsed.inc({ trigger: message.trigger }); break;
      case "released": if (metrics !== undefined) countReleased(metrics, message.released); break;
      case "beat": if (pool !== undefined) metrics?.heartbeat.set({ pool }, message.atMs / 1000); break;
      case "done": pending.get(message.id)?.(message.error); break;
      case "ask":
        void answerProbe(message.path, { readiness: options.readiness, metricsText: options.metricsText, draining: state === "draining" })
          .then((answer) => send({ kind: "answer", id: message.id, answer }));
        break;
      case "begun": case "refused": break; // heard by the start
    }
  };
  thread.on("message", hear);
  const port = await new Promise<number | undefined>((resolve, reject) => {
    thread.on("message", (message: FromThread) => {
      if (message.kind === "begun") resolve(message.port);
      if (message.kind === "lost") reject(new Error(`incarnation ${incarnation} lapsed before it had begun`));
      if (message.kind === "refused") reject(new Error(`the incarnation could not begin: ${message.message}`));
    });
    thread.on("error", (error) => {
      logger.error(logEvents.heartbeatFailed, { err: error instanceof Error ? error : new Error(String(error)) });
      if (state === "beginning") reject(error instanceof Error ? error : new Error(String(error)));
      else lose("thread_failed");
    });
  }).catch(async (error: unknown) => {
    clearInterval(loop);
    await thread.terminate();
    throw error;
  });
  state = "living";
  logger.info(logEvents.incarnationRegistered, { host, version, port });

  /** `performance.now()` starts with the thread, `process.hrtime` with the system: their difference is constant. */
  const originMs = toMs(process.hrtime.bigint()) - performance.now();
  const validUntil = (): number => Math.max(0, toMs(board.get("validUntil")) - originMs);
  const end = async (withinMs: number): Promise<void> => {
    const lostBefore = state === "over";
    state = "over";
    clearInterval(loop);
    const late = new Promise<void>((resolve) => setTimeout(resolve, withinMs + 500).unref());
    await Promise.race([order({ kind: "retire", withinMs: lostBefore ? 0 : withinMs }), late]).catch(() => undefined);
    board.set("validUntil", 0n);
    await thread.terminate();
  };
  return {
    incarnation,
    port,
    attest: () => board.set("attested", process.hrtime.bigint()),
    validUntil,
    isValid: () => validUntil() > performance.now(),
    onWake: (channel, listener) => {
      const heard = listeners.get(channel) ?? new Set();
      listeners.set(channel, heard.add(listener));
      return () => { heard.delete(listener); };
    },
    drain: async () => {
      if (state !== "living") return;
      state = "draining";
      await order({ kind: "drain" }).catch(() => undefined); // the row says less; the process drains all the same
    },
    retire: (withinMs = RETIRE_WITHIN_MS) => (retiring ??= end(withinMs)),
  };
}
