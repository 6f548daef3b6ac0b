import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProbeAnswer, ProbePath } from "../thread/messages.js";

export type ProbeServerOptions = {
  host: string;
  /** 0 asks for any free port. */
  port: number;
  /** Answered here, whatever main does. */
  live: () => ProbeAnswer;
  /** Asks main; rejects when it does not answer in time. */
  ask: (path: ProbePath) => Promise<ProbeAnswer>;
};

export type ProbeServer = { port: number; close: () => Promise<void> };

const asked: readonly string[] = ["/health/ready", "/health/startup", "/metrics"] satisfies ProbePath[];
const isAsked = (path: string): path is ProbePath => asked.includes(path);

/** An answer in JSON. */
export function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): ProbeAnswer {
  return { status, contentType: "application/json; charset=utf-8", body: JSON.stringify(body) };
}

async function answerTo(path: string, options: ProbeServerOptions): Promise<ProbeAnswer> {
  if (path === "/health/live") return options.live();
  if (!isAsked(path)) return jsonAnswer(404, { status: "unknown", reasons: [`expected /health/live or one of ${asked.join(", ")}`] });
  try {
    return await options.ask(path);
  } catch (error) {
    return jsonAnswer(503, { status: "unavailable", reasons: [error instanceof Error ? error.message : String(error)] });
  }
}

/** Serves health and metrics from the thread, so that a busy main loop does not look like a dead process. Rejects when the port is taken. */
export async function createProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    void answerTo(path, options).then(({ status, contentType, body }) => {
      response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" }).end(body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}
