import { setTimeout as pause } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import { beginIncarnation, codeOf, drainIncarnation, holdLifeline, isTransient, retireIncarnation } from "@mainstay/database";
import { logEvents } from "@mainstay/telemetry";
import { openBoard } from "../board/board.js";
import { monotonicMs, toMs, toNs } from "../board/monotonic.js";
import { createAskMain } from "../probe/ask-main.js";
import { createProbeServer } from "../probe/create-probe-server.js";
import { judgeLive, judgeReady } from "../probe/judge-health.js";
import { keepSession } from "../sessions/keep-session.js";
import { createLife, type Life } from "./create-life.js";
import type { FromThread, ThreadOrders, ToThread } from "./messages.js";
import { openSessions } from "./open-sessions.js";
import { createReport } from "./report.js";

/** How long main's start waits for the lifeline; without it a death is noticed by the lapse alone. */
const LIFELINE_WITHIN_MS = 1_000;

/** Lives one incarnation: begins it, proves its life, watches its peers, and says good-bye when main asks for it. */
export async function runThread(port: MessagePort, orders: ThreadOrders): Promise<void> {
  const { incarnation, identity, settings } = orders;
  const { heartbeatMs, leaseMs, wedgedAfterMs } = settings;
  const board = openBoard(orders.board);
  const open = openSessions(orders);
  const post = (message: FromThread): void => port.postMessage(message);
  const report = createReport(post);
  let state: "beginning" | "begun" | "over" = "beginning";
  let lifeline: string | undefined;
  let life: Life | undefined;

  const questions = createAskMain(post);
  const view = () => ({
    nowMs: monotonicMs(), loopedMs: toMs(board.get("looped")), validUntilMs: toMs(board.get("validUntil")),
    begun: state !== "beginning", lost: state === "over",
  });
  const probe = orders.probe && await createProbeServer({
    ...orders.probe,
    live: () => judgeLive(view(), wedgedAfterMs),
    ask: async (path) => (path === "/health/ready" ? judgeReady(view()) : undefined) ?? questions.ask(path),
  });

  const close = async (): Promise<void> => {
    state = "over";
    board.set("validUntil", 0n);
    await Promise.all([life?.close(), pulse.close()]);
  };
  const onLost = (): void => {
    if (state === "over") return;
    report.say("error", logEvents.heartbeatRefused);
    post({ kind: "lost", reason: "lapsed" });
    void close();
  };
  const announce = async (begun: Life): Promise<void> => {
    const until = monotonicMs() + LIFELINE_WITHIN_MS;
    while (!begun.noticed() && monotonicMs() < until) await pause(5);
    if (state !== "beginning") return;
    state = "begun";
    post({ kind: "begun", port: probe?.port });
  };

  const pulse = keepSession({
    open: open.heartbeat, mostPauseMs: Math.max(50, heartbeatMs / 2),
    prepare: async (session) => {
      if (lifeline === undefined) {
        const sent = process.hrtime.bigint();
        lifeline = await beginIncarnation(session, { id: incarnation, ...identity, leaseMs });
        if (lifeline === undefined) throw new Error(`incarnation ${incarnation} lapsed before it had begun`);
        board.set("validUntil", sent + toNs(leaseMs));
      }
      await holdLifeline(session, { of: "pulse", lifeline });
    },
    onUp: () => {
      if (life === undefined && lifeline !== undefined) {
        life = createLife({ orders, board, open, pulse, lifeline, post, report, onLost });
        void announce(life);
      } else life?.heartbeat.reconnected();
      void life?.heartbeat.now();
    },
    onDown: (reason) => report.failed(new Error(`Connection terminated: ${reason}`)),
    onFailure: (error) => {
      report.failed(error);
      if (life !== undefined || isTransient(error)) return;
      post({ kind: "refused", message: error instanceof Error ? error.message : String(error), code: codeOf(error) });
      void close();
    },
  });

  const retire = async (): Promise<void> => {
    life?.heartbeat.stop();
    const session = pulse.current();
    const held = session === undefined || state === "over" ? undefined : await retireIncarnation(session, incarnation);
    if (held !== undefined && held > 0) await life?.releaseOwn();
    if (held !== undefined) report.say("info", logEvents.incarnationEnded, { held });
  };
  const obey = async (order: ToThread): Promise<void> => {
    if (order.kind === "answer") { questions.answered(order.id, order.answer); return; }
    try {
      if (order.kind === "drain") {
        const session = pulse.current();
        if (session !== undefined) await drainIncarnation(session, incarnation);
      } else {
        await Promise.race([retire(), pause(order.withinMs)]);
        await Promise.all([close(), probe?.close()]);
      }
      post({ kind: "done", id: order.id, error: undefined });
    } catch (error) {
      post({ kind: "done", id: order.id, error: error instanceof Error ? error.message : String(error) });
    }
  };
  port.on("message", (order: ToThread) => void obey(order));
}
