import { jsonAnswer } from "./create-probe-server.js";
import type { ProbeAnswer, ProbePath } from "../thread/messages.js";

/** What a process says of itself. */
export type Readiness = {
  ready: boolean;
  /** False while it starts: `/health/startup` then answers 503. Default true. */
  started?: boolean;
  /** Why not, in plain words; also what is degraded while ready. */
  reasons?: readonly string[];
};

/** Main's answer to a probe that the thread passed on. Never rejects. */
export async function answerProbe(
  path: ProbePath,
  { readiness, metricsText, draining }: { readiness: () => Readiness | Promise<Readiness>; metricsText: () => Promise<string>; draining: boolean },
): Promise<ProbeAnswer> {
  try {
    if (path === "/metrics") return { status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: await metricsText() };
    const { ready, started = true, reasons = [] } = await readiness();
    if (path === "/health/startup") return jsonAnswer(started ? 200 : 503, { status: started ? "started" : "starting", reasons });
    if (draining) return jsonAnswer(503, { status: "draining", reasons: ["the process is draining"] });
    return jsonAnswer(ready ? 200 : 503, { status: ready ? "ready" : "unavailable", reasons });
  } catch (error) {
    return jsonAnswer(503, { status: "unavailable", reasons: [error instanceof Error ? error.message : String(error)] });
  }
}
