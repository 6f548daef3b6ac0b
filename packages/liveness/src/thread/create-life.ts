import type { Lapsed, Released, Session } from "@mainstay/database";
import { logEvents } from "@mainstay/telemetry";
import type { Board } from "../board/board.js";
import { createHeartbeat, type Heartbeat } from "../heartbeat/create-heartbeat.js";
import { createLapser } from "../release/create-lapser.js";
import { releaseRuns } from "../release/release-runs.js";
import { keepLifeline } from "../sessions/keep-lifeline.js";
import type { KeptSession } from "../sessions/keep-session.js";
import { createDeathWatch, type DeathWatch } from "../watch/create-death-watch.js";
import type { FromThread, ThreadOrders } from "./messages.js";
import type { Openers } from "./open-sessions.js";
import type { Report } from "./report.js";

export type LifeOptions = {
  orders: ThreadOrders;
  board: Board;
  open: Openers;
  /** The heartbeat's session. */
  pulse: KeptSession;
  /** Key of this incarnation's lifeline. */
  lifeline: string;
  post: (message: FromThread) => void;
  report: Report;
  onLost: () => void;
};

export type Life = {
  heartbeat: Heartbeat;
  /** Its lifeline's lock is held: from now on peers notice its death at once. */
  noticed: () => boolean;
  /** Releases what this incarnation itself still holds, once it has ended. */
  releaseOwn: () => Promise<void>;
  close: () => Promise<void>;
};

/** The moving parts of a begun incarnation: heartbeat, lifeline, witness of silent peers, death watch. */
export function createLife({ orders, board, open, pulse, lifeline: lifelineKey, post, report, onLost }: LifeOptions): Life {
  const { incarnation, settings, limits, channels } = orders;
  const { heartbeatMs, leaseMs } = settings;
  const mostPauseMs = Math.max(50, heartbeatMs / 2);

  const lifeline = keepLifeline({
    lifeline: lifelineKey, channels, mostPauseMs, onFailure: report.failed,
    open: (onEnd) => open.lifeline(onEnd, (channel) => post({ kind: "hint", channel })),
    onHint: (channel) => post({ kind: "hint", channel }),
    onDown: (reason) => report.say("warn", logEvents.lifelineLost, { reason }),
  });
  const deeds = (): Session | undefined => lifeline.current() ?? pulse.current();

  const onReleased = (released: readonly Released[]): void => {
    const counts = new Map<string, number>();
    for (const { trigger } of released) counts.set(trigger, (counts.get(trigger) ?? 0) + 1);
    for (const [trigger, runs] of counts) report.say("info", logEvents.runsTakenOver, { trigger, runs });
    post({
      kind: "released",
      released: released.map(({ trigger, kind, status, workflowId, class: failureClass, disposition }) => ({ trigger, kind, status, workflowId, class: failureClass, disposition })),
    });
    for (const { id, disposition } of released) if (disposition !== null) report.say("warn", logEvents.runDeadLettered, { runId: id, disposition });
  };
  const release = (how: "takeOver" | "suspect", incarnations: readonly string[]): Promise<void> =>
    releaseRuns({ how, incarnations, limits, session: deeds, onReleased }).catch(report.failed);
  const onLapsed = (lapsed: readonly Lapsed[]): void => {
    for (const { id, role, trigger, held, silentMs } of lapsed) {
      post({ kind: "lapsed", trigger });
      report.say("warn", logEvents.incarnationLapsed, { peer: id, peerRole: role, trigger, held, silentMs: Math.round(silentMs) });
    }
    void release("takeOver", lapsed.map(({ id }) => id));
  };
  const lapser = createLapser({
    heartbeatMs, session: deeds, generation: pulse.generation, onLapsed, onFailure: report.failed,
    valid: () => board.get("validUntil") > process.hrtime.bigint(),
  });

  const watch: DeathWatch | undefined = settings.deathWatch ? createDeathWatch({
    incarnation, heartbeatMs, mostPauseMs, suspicionGraceMs: settings.suspicionGraceMs, restMs: leaseMs + 2 * heartbeatMs,
    openWatch: open.watch, lifeline, onFailure: report.failed,
    onSuspected: (peer) => {
      report.say("warn", logEvents.incarnationSuspected, { peer: peer.id });
      return release("suspect", [peer.id]);
    },
    onCleared: (peer) => report.say("info", logEvents.incarnationCleared, { peer: peer.id }),
  }) : undefined;

  const heartbeat = createHeartbeat({
    incarnation, heartbeatMs, leaseMs, wedgedAfterMs: settings.wedgedAfterMs, board, session: pulse.current, onLost,
    ringSize: () => watch?.ringSize() ?? 0,
    onBeat: (ring) => {
      report.answered();
      post({ kind: "beat", atMs: Date.now() });
      watch?.note(ring);
    },
    onSilence: (suspects) => lapser.await(suspects),
    onWithheld: (withheld) => { if (withheld) report.say("error", logEvents.heartbeatWithheld, { wedgedAfterMs: settings.wedgedAfterMs }); },
    onFailure: report.failed,
  });
  return {
    heartbeat,
    noticed: lifeline.held,
    releaseOwn: () => release("takeOver", [incarnation]),
    close: async () => {
      heartbeat.stop();
      lapser.stop();
      await Promise.all([watch?.close(), lifeline.close()]);
    },
  };
}
