import type { MessagePort } from "node:worker_threads";
import {
  beginIncarnation, codeOf, drainIncarnation, holdLifeline, isTransient, retireIncarnation, type Lapsed, type Released, type RingPeer, type Session,
} from "@mainstay/database";
import { logEvents } from "@mainstay/telemetry";
import { openBoard } from "../board/board.js";
import { monotonicMs, toMs, toNs } from "../board/monotonic.js";
import { createHeartbeat, type Heartbeat } from "../heartbeat/create-heartbeat.js";
import { createAskMain } from "../probe/ask-main.js";
import { createProbeServer, type ProbeServer } from "../probe/create-probe-server.js";
import { judgeLive, judgeReady } from "../probe/judge-health.js";
import { createLapser } from "../release/create-lapser.js";
import { releaseRuns } from "../release/release-runs.js";
import { keepLifeline } from "../sessions/keep-lifeline.js";
import { keepSession } from "../sessions/keep-session.js";
import { createDeathWatch, type DeathWatch } from "../watch/create-death-watch.js";
import type { FromThread, LostReason, ThreadOrders, ToThread } from "./messages.js";
import { openSessions } from "./open-sessions.js";
import { createReport } from "./report.js";

/** What the thread is once it has begun. */
type Begun = { lifeline: ReturnType<typeof keepLifeline>; watch: DeathWatch | undefined; heartbeat: Heartbeat };

/** Lives one incarnation: begins it, proves its life, watches its peers, and says good-bye when main asks for it. */
export async function runThread(port: MessagePort, orders: ThreadOrders): Promise<void> {
  const { incarnation, identity, settings, limits, channels } = orders;
  const { heartbeatMs, leaseMs, wedgedAfterMs } = settings;
  const board = openBoard(orders.board);
  const open = openSessions(orders);
  const post = (message: FromThread): void => { port.postMessage(message); };
  const report = createReport(post);
  const mostPauseMs = Math.max(50, heartbeatMs / 2);
  let state: "beginning" | "begun" | "over" = "beginning";
  let begun: Begun | undefined;

  const main = createAskMain(post);
  const view = () => ({
    nowMs: monotonicMs(), loopedMs: toMs(board.get("looped")), validUntilMs: toMs(board.get("validUntil")),
    begun: state !== "beginning", lost: state === "over",
  });
  const probe: ProbeServer | undefined = orders.probe && await createProbeServer({
    ...orders.probe,
    live: () => judgeLive(view(), wedgedAfterMs),
    ask: async (path) => (path === "/health/ready" ? judgeReady(view()) : undefined) ?? await main.ask(path),
  });

  const deeds = (): Session | undefined => begun?.lifeline.current() ?? pulse.current();
  const onReleased = (released: readonly Released[]): void => {
    const counts = new Map<string, number>();
    for (const { trigger } of released) counts.set(trigger, (counts.get(trigger) ?? 0) + 1);
    for (const [trigger, runs] of counts) {
      post({ kind: "released", trigger, runs });
      report.say("info", logEvents.runsTakenOver, { trigger, runs });
    }
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
    heartbeatMs, session: deeds, generation: () => pulse.generation(), onLapsed, onFailure: report.failed,
    valid: () => state === "begun" && board.get("validUntil") > process.hrtime.bigint(),
  });

  const closeAll = async (): Promise<void> => {
    begun?.heartbeat.stop();
    lapser.stop();
    await Promise.all([begun?.watch?.close(), begun?.lifeline.close(), pulse.close()]);
  };
  const over = (reason: LostReason): void => {
    if (state === "over") return;
    state = "over";
    board.set("validUntil", 0n);
    report.say("error", logEvents.heartbeatRefused, { reason });
    post({ kind: "lost", reason });
    void closeAll();
  };

  const startWatch = (lifeline: Begun["lifeline"]): DeathWatch => createDeathWatch({
    incarnation, suspicionGraceMs: settings.suspicionGraceMs, heartbeatMs, restMs: leaseMs + 2 * heartbeatMs, mostPauseMs,
    openWatch: open.watch, lifeline, onFailure: report.failed,
    onSuspected: async (peer: RingPeer) => {
      report.say("warn", logEvents.incarnationSuspected, { peer: peer.id });
      await release("suspect", [peer.id]);
    },
    onCleared: (peer) => report.say("info", logEvents.incarnationCleared, { peer: peer.id }),
  });
  const begin = async (session: Session): Promise<void> => {
    const sent = process.hrtime.bigint();
    const lifelineKey = await beginIncarnation(session, { id: incarnation, ...identity, leaseMs });
    if (lifelineKey === undefined) { over("lapsed"); return; }
    await holdLifeline(session, { of: "pulse", lifeline: lifelineKey });
    if (begun !== undefined) return;
    board.set("validUntil", sent + toNs(leaseMs));
    const lifeline = keepLifeline({
      lifeline: lifelineKey, channels, mostPauseMs, onFailure: report.failed,
      open: (onEnd) => open.lifeline(onEnd, (channel) => post({ kind: "hint", channel })),
      onHint: (channel) => post({ kind: "hint", channel }),
      onDown: (reason) => report.say("warn", logEvents.lifelineLost, { reason }),
    });
    const watch = settings.deathWatch ? startWatch(lifeline) : undefined;
    const heartbeat = createHeartbeat({
      incarnation, heartbeatMs, leaseMs, wedgedAfterMs, board, session: () => pulse.current(),
      ringSize: () => watch?.ringSize() ?? 0,
      onBeat: (ring) => {
        report.answered();
        post({ kind: "beat", atMs: Date.now() });
        watch?.note(ring);
      },
      onSilence: (suspects) => lapser.await(suspects),
      onLost: () => over("lapsed"),
      onWithheld: (withheld) => { if (withheld) report.say("error", logEvents.heartbeatWithheld, { wedgedAfterMs }); },
      onFailure: report.failed,
    });
    begun = { lifeline, watch, heartbeat };
  };
  const pulse = keepSession({
    open: open.heartbeat, mostPauseMs,
    prepare: async (session) => {
      if (begun === undefined) await begin(session);
      else if (begunKey !== undefined) await holdLifeline(session, { of: "pulse", lifeline: begunKey });
      begun?.heartbeat.reconnected();
      setImmediate(() => void begun?.heartbeat.now());
    },
    onDown: (reason) => report.failed(new Error(`Connection terminated: ${reason}`)),
    onFailure: (error) => {
      report.failed(error);
      if (state === "beginning" && !isTransient(error)) refuse(error);
    },
  });
}
