import { auditHoldings, handBackRuns, type Audit, type Queryable, type ReleaseLimits, type StopRequest } from "@mainstay/database";
import type { HeldRun } from "../runs/held-run.js";
import type { HeldRuns } from "../runs/held-runs.js";
import type { Life } from "../life.js";
import type { KnownWorkflows } from "../workflows/known-workflows.js";

export type AuditParts = {
  db: Queryable;
  life: Life;
  held: HeldRuns;
  workflows: KnownWorkflows;
  limits: ReleaseLimits;
  auditMs: number;
  /** A claim younger than this may still be on its way here. */
  statementTimeoutMs: number;
  /** What the database says was asked of a run that is held here. */
  heed: (run: HeldRun, asked: StopRequest, askedAt: number) => void;
  wakeSweep: (afterMs: number) => void;
  /** The database says this incarnation is over. */
  onLapsed: () => void;
  onMislaid: (runs: number) => void;
  onFenced: () => void;
  onError: (error: unknown) => void;
};

export type AuditLoop = { now: () => void; stop: () => Promise<void> };

/**
 * The holdings audit, every `auditMs` and at once after a lost reply: liveness proof, lost-claim finder and cancel poll
 * in one statement through the working pool (rule H1). The heartbeat is renewed only while it succeeds.
 */
export function startAuditLoop(parts: AuditParts): AuditLoop {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;

  const pass = async (): Promise<void> => {
    const { held, life } = parts;
    const incarnation = life.incarnation();
    const before = new Map([...held.byId.values()].filter((run) => run.owner === incarnation).map((run) => [run.id, run]));
    const askedAt = performance.now();
    const audit = await auditHoldings(parts.db, { incarnation, requires: parts.workflows.requires(), horizonMs: 2 * parts.auditMs });
    if (incarnation !== life.incarnation()) return;
    if (audit.lapsed) { parts.onLapsed(); return; }
    life.attest();
    await compare(parts, { audit, before, incarnation, askedAt });
    await parts.workflows.refresh(audit.requirements);
    if (audit.sweepable) parts.wakeSweep(0);
    else if (audit.nextDueMs !== null) parts.wakeSweep(Math.max(1, audit.nextDueMs));
  };

  const run = (): void => {
    if (stopped) return;
    if (running !== undefined) { again = true; return; }
    clearTimeout(timer);
    running = pass().catch(parts.onError).finally(() => {
      running = undefined;
      if (stopped) return;
      timer = setTimeout(run, again ? 50 : parts.auditMs);
      again = false;
    });
  };
  run();
  return {
    now: run,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function compare(parts: AuditParts, { audit, before, incarnation, askedAt }: { audit: Audit; before: ReadonlyMap<string, HeldRun>; incarnation: string; askedAt: number }): Promise<void> {
  const { held } = parts;
  const listed = new Map(audit.holdings.map((holding) => [holding.id, holding]));
  const mislaid = audit.holdings.filter((holding) => holding.heldMs > parts.statementTimeoutMs && held.byId.get(holding.id)?.fence !== holding.fence);
  for (const holding of audit.holdings) {
    const run = held.byId.get(holding.id);
    if (run?.fence === holding.fence) parts.heed(run, holding.stopRequested, askedAt);
  }
  for (const [id, run] of before) {
    // held here since before the question, and the database names another holder or none: a peer has it, or it has ended
    if (held.byId.get(id) !== run || run.writing || listed.get(id)?.fence === run.fence) continue;
    parts.onFenced();
    held.drop(run, "the database no longer names this holder");
  }
  if (mislaid.length === 0) return;
  const back = await handBackRuns(parts.db, { owner: incarnation, limits: parts.limits, runs: mislaid.map(({ id, fence }) => ({ id, fence, kind: "mislaid" })) });
  parts.onMislaid(back.length);
  if (back.length > 0) parts.wakeSweep(0);
}
