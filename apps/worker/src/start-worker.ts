import { setTimeout as sleep } from "node:timers/promises";
import { createTicketConsumer, type TicketConsumer } from "@mainstay/broker";
import type { WorkerConfig } from "@mainstay/config";
import { createClaim, createHint, createLaunch, createSettle, handBackRuns, recordDeadMessage, type Database, type MessageFault, type ReleaseLimits } from "@mainstay/database";
import { createEgress } from "@mainstay/egress";
import { logEvents, type Logger, type Metrics, type Tracing } from "@mainstay/telemetry";
import { startAuditLoop } from "./claiming/audit-loop.js";
import { startSweepLoop, type SweepLoop } from "./claiming/sweep-loop.js";
import { takeTicket } from "./claiming/take-ticket.js";
import type { Life } from "./life.js";
import { HELD_WAIT_MS } from "./nodes/node-types.js";
import { createReportRuns } from "./report-runs.js";
import { createExecuteRuns } from "./runs/execute-runs.js";
import type { HeldRun } from "./runs/held-run.js";
import { createHeldRuns } from "./runs/held-runs.js";
import { refuseInput } from "./workflows/refuse-input.js";
import type { KnownWorkflows } from "./workflows/known-workflows.js";

export type WorkerParts = {
  config: WorkerConfig;
  db: Database;
  life: Life & { onLapsed: () => void };
  limits: ReleaseLimits;
  workflows: KnownWorkflows;
  logger: Logger;
  metrics: Metrics;
  tracing?: Tracing | undefined;
};

export type RunningWorker = {
  /** A hint came: `work` (something may be swept), `stop` (a cancel was asked for). */
  hint: (channel: string) => void;
  /** The incarnation is over: nothing held is written any more. */
  dropAll: (why: string) => void;
  holding: () => number;
  brokerUp: () => boolean;
  /**
   * Stops claiming, lets nodes in flight end within `drainMs` (or until `hurry`), hands the rest back. Runs with an open
   * effect stay launched: their lapse releases them.
   */
  drain: (hurry: AbortSignal) => Promise<void>;
};

/** An outage of Postgres is outlasted by writes in flight for this long; the lapse decides long before. */
const GIVE_UP_MS = 10 * 60_000;

/** While several runs are on their way their statements wait so long for one another. Milliseconds. */
const LINGER_MS = 4;

/** Readers of logs hear of a claim so late at most; of a short run's one hint tells the beginning and the end. Milliseconds. */
const CLAIM_TOLD_MS = 20;

/** Wires one worker: tickets and sweeps in, runs executed, endings out. */
export function startWorker({ config, db, life, limits, workflows, logger, metrics, tracing }: WorkerParts): RunningWorker {
  const { pool } = config;
  const held = createHeldRuns(config.slots);
  const hint = createHint(db);
  let draining = false;
  const onFlush = (op: string, rows: number) => { metrics.groupCommitBatchSize.observe({ op }, rows); };
  const onError = (error: unknown) => { logger.warn(logEvents.batchFailed, { err: toError(error) }); };
  const report = createReportRuns({ logger, metrics });
  const batch = { giveUpMs: GIVE_UP_MS, lingerMs: LINGER_MS, onFlush };
  /** What other claims under way may bring counts as held: an isolated run must not meet it here. `own` are those of the asker. */
  const claimant = (own = 0) => ({ incarnation: life.incarnation(), requires: workflows.requires(), holding: held.byId.size + Math.max(0, held.reserved() - own), leaseMs: config.leaseMs });
  /** The loops know of each other; each stands once it has begun. */
  const loops: { tickets?: TicketConsumer; sweep?: SweepLoop } = {};

  const runs = createExecuteRuns({
    db, held, workflows, tracing, batch, onFenced: report.fenced, onExecuted: report.executed,
    settings: { retentionDays: config.retentionDays, jitter: () => 0.5 + Math.random(), holdShortWaitsMs: HELD_WAIT_MS, resultMaxBytes: config.outputMaxBytes * OUTPUTS_OF_A_RESULT, draining: () => draining },
    nodes: {
      effects: {
        db, life, tracing, launch: createLaunch(db, batch), settle: createSettle(db, batch), onFenced: report.fenced,
        effectMarginMs: config.effectMarginMs, sendGraceMs: config.sendGraceMs,
        onSettled: report.settled, onContradicted: report.contradicted, onAsked: report.asked,
      },
      egress: createEgress({ allow: config.egressAllow }),
      outputMaxBytes: config.outputMaxBytes,
      runOutputMaxBytes: config.outputMaxBytes * OUTPUTS_OF_A_RUN,
      log: (level, _message, fields) => { logger[level](logEvents.nodeSaid, flat(fields)); },
      onUnclassified: (workflowId) => { metrics.failuresUnclassified.inc({ workflow: metrics.workflowLabel(workflowId) }); },
      refuseInput,
    },
    onStored: (run, write, paused) => {
      hint("log");
      report.stored(run, write, paused);
      if (write.move.kind === "park" && write.move.dueMs <= 0) hint("dispatch");
    },
    onError: (error, run) => { logger.error(logEvents.batchFailed, { runId: run.wireId, err: toError(error) }); audit.now(); },
  });

  const begin: typeof runs.begin = async (claimed, owner) => {
    report.claimed(claimed);
    hint("log", CLAIM_TOLD_MS);
    try {
      await runs.begin(claimed, owner);
    } catch (error) {
      logger.error(logEvents.claimUnservable, { runId: claimed.id, err: toError(error) });
      audit.now(); // what is not held here is handed back
    }
  };

  const audit = startAuditLoop({
    db, life, held, workflows, limits, auditMs: config.auditMs, statementTimeoutMs: config.statementTimeoutMs,
    heed: runs.heed,
    wakeSweep: (afterMs) => { loops.sweep?.wake(afterMs); },
    onLapsed: life.onLapsed,
    onMislaid: (count) => {
      if (count === 0) return;
      metrics.holdingsMislaid.inc(count);
      logger.warn(logEvents.holdingMislaid, { runs: count });
    },
    onFenced: () => { report.fenced("claim"); },
    onError,
  });

  loops.sweep = startSweepLoop({
    db, held, claimant, begin, sweepMs: config.sweepMs, onError,
    draining: () => draining,
    idleRestMs: () => {
      if (config.broker === "none") return config.idleSweepMs;
      return loops.tickets?.brokerUp() === true ? undefined : config.sweepMs; // nobody rings: the audit alone would be late
    },
    onSwept: () => { metrics.sweptRuns.inc({ pool }); metrics.claims.inc({ pool, result: "won", reason: "sweep" }); },
    onLostReply: () => { audit.now(); },
  });

  const buryMessage = async (message: { reason: MessageFault; namedRun?: string; body?: string }): Promise<void> => {
    metrics.messageDeadLettersOpened.inc({ reason: message.reason });
    logger.warn(logEvents.ticketRefused, { reason: message.reason });
    await recordDeadMessage(db, { pool, seenBy: life.incarnation(), ...message }).catch(onError);
  };

  if (config.broker === "redis") {
    const claim = createClaim(db, claimant, { ...batch, giveUpMs: 30_000, draining: () => draining });
    loops.tickets = createTicketConsumer({
      url: config.redisUrl, prefix: config.brokerPrefix, pool, commandTimeoutMs: COMMAND_TIMEOUT_MS,
      freeSlots: () => (draining ? 0 : held.free()),
      onTicket: (runIds) => takeTicket({
        claim, held, incarnation: life.incarnation, draining: () => draining, begin, onError,
        putBack: (ids) => loops.tickets?.putBack(ids) ?? Promise.resolve(),
        onLostReply: () => { audit.now(); },
        onAnswer: (runId, { result, reason }) => {
          metrics.claims.inc({ pool, result, reason });
          if (reason === "ended") metrics.terminalRejects.inc({ op: "claim" });
          if (reason === "not_found") void buryMessage({ reason: "run_not_found", namedRun: runId });
        },
      }, runIds),
      onBadTicket: (raw, reason) => buryMessage({ reason, body: raw }),
      onTicketFailed: (error) => { logger.warn(logEvents.ticketFailed, { err: error }); },
      onLockLost: () => {
        metrics.messageLockLost.inc({ pool });
        logger.warn(logEvents.ticketLockLost, { pool });
      },
      onState: (up: boolean) => {
        metrics.brokerUp.set(up ? 1 : 0);
        logger.warn(up ? logEvents.brokerUp : logEvents.brokerDown);
        loops.sweep?.wake();
      },
      onFailure: (reason) => { metrics.brokerErrors.inc({ reason }); },
      onError: (error: Error, suppressed: number) => { logger.warn(logEvents.brokerError, { err: error, suppressed }); },
    });
  }
  held.onFree((wasFull) => {
    loops.tickets?.nudge();
    if (wasFull && !draining) loops.sweep?.wake(10);
  });
  metrics.beforeScrape(() => {
    metrics.slots.set({ pool }, config.slots);
    metrics.slotsInUse.set({ pool }, held.byId.size);
    metrics.draining.set({ pool }, draining ? 1 : 0);
    const { size, inUse, waiting } = db.pool();
    metrics.dbPoolSize.set(size);
    metrics.dbPoolInUse.set(inUse);
    metrics.dbPoolWaiting.set(waiting);
  });

  return {
    hint: (channel) => {
      if (channel === "work") loops.sweep?.wake();
      if (channel === "stop" && held.byId.size > 0) audit.now();
    },
    dropAll: held.dropAll,
    holding: () => held.byId.size,
    brokerUp: () => loops.tickets?.brokerUp() ?? false,
    drain: async (hurry) => {
      draining = true;
      await Promise.all([loops.tickets?.stop(), loops.sweep?.stop()]);
      runs.yieldIdle();
      const until = performance.now() + config.drainMs;
      while (held.byId.size > 0 && performance.now() < until && !hurry.aborted) await sleep(20);
      await handBack(db, { held, owner: life.incarnation(), limits, logger });
      await audit.stop();
    },
  };
}

/** All outputs of a run together, and those of its last nodes, which are the run's own: so many times the largest of one node. */
const OUTPUTS_OF_A_RUN = 64;
const OUTPUTS_OF_A_RESULT = 4;
/** One command to the broker may take so long. Milliseconds. */
const COMMAND_TIMEOUT_MS = 2_000;

async function handBack(
  db: Database, { held, owner, limits, logger }: { held: ReturnType<typeof createHeldRuns>; owner: string; limits: ReleaseLimits; logger: Logger },
): Promise<void> {
  for (let go = 0; go < 5 && held.byId.size > 0; go++) {
    const mine = [...held.byId.values()].filter((run) => run.owner === owner);
    if (go === 0) for (const run of mine) cutShort(run);
    if (go === 0) await sleep(50); // code that heeds the signal ends, and with it its effects
    const back = await handBackRuns(db, { owner, limits, runs: mine.map(({ id, fence }) => ({ id, fence, kind: "hand_back" })) });
    for (const { id } of back) {
      const run = held.byId.get(id);
      if (run !== undefined) held.drop(run, "handed back");
    }
    if (back.length > 0) logger.info(logEvents.runsHandedBack, { runs: back.length });
    if (mine.length === back.length) return;
    await sleep(100);
  }
}

/** What the code still does is not recorded: a peer executes the node again. */
function cutShort(run: HeldRun): void {
  for (const execution of run.executions.values()) {
    execution.over = true;
    execution.abort.abort(new Error("the worker drains"));
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const flat = (fields: Record<string, unknown>): Record<string, string | number | boolean> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return [[name, value]];
    return value === undefined || value === null ? [] : [[name, toText(value)]];
  }));

/** A log line never fails the code that writes it. */
function toText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(no JSON)";
  }
}
