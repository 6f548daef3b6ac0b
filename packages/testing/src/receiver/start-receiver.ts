import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Arrival, Plan } from "./arrival.js";

/** An HTTP server that stands for the outside world and keeps a ledger of what arrived. */
export type Receiver = Readonly<{
  /** Without a slash at the end; every path is served. */
  url: string;
  /** Every arrival so far. */
  ledger: () => readonly Arrival[];
  /** The arrivals that are not answered yet. */
  open: () => readonly Arrival[];
  /** From now on every arrival is dealt with by this plan. A repeat of a remembered key is answered as its first was. */
  plan: (next: Plan | ((arrival: Arrival) => Plan)) => void;
  /** How often each identity was accepted, GETs left out; the identity is read out of the body, so that one under two keys shows. */
  accepted: (identityOf?: (arrival: Arrival) => string) => ReadonlyMap<string, number>;
  /** Forgets every key, as a provider does when its retention is over. */
  forgetKeys: () => void;
  stop: () => Promise<void>;
}>;

type Writable = { -readonly [K in keyof Arrival]: Arrival[K] };
type Entry = Writable & { open: boolean };

/** Starts a receiver on a free port of 127.0.0.1. It answers 200 at once until it is given a plan. */
export async function startReceiver(first: Plan = {}): Promise<Receiver> {
  const ledger: Entry[] = [];
  const remembered = new Map<string, Plan>();
  let planFor: (arrival: Arrival) => Plan = () => first;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(request);
    if (body === undefined) return; // broke off before its end: nothing was asked
    const entry: Entry = {
      at: performance.now(), method: request.method ?? "", path: request.url ?? "", body,
      key: headerOf(request, "idempotency-key"), traceparent: headerOf(request, "traceparent"), digest: createHash("sha256").update(body).digest("hex"), accepted: false, open: true,
    };
    const known = entry.key === "" ? undefined : remembered.get(entry.key);
    const plan = known ?? planFor(entry);
    const { status = 200, holdMs = 0, then = "answer" } = plan;
    entry.accepted = known === undefined && status < 300 && entry.method !== "GET";
    if (entry.accepted && entry.key !== "") remembered.set(entry.key, { ...plan, holdMs: 0, then: "answer" });
    ledger.push(entry);
    response.on("close", () => {
      entry.outcome ??= "gone";
      entry.open = false;
    });
    if (then === "hang") return;
    await Promise.all([sleep(holdMs), plan.until]);
    if (response.destroyed) return;
    if (then === "reset") {
      entry.outcome = "reset";
      request.socket.resetAndDestroy();
      return;
    }
    entry.outcome = status;
    const retry = plan.retryInMs === undefined ? {} : { "retry-after": new Date(Date.now() + plan.retryInMs).toUTCString() };
    response.writeHead(status, { "content-type": "application/json", ...retry });
    response.end(JSON.stringify(plan.body ?? { receipt: entry.key }));
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the system gave the receiver no port");

  return {
    url: `http://127.0.0.1:${address.port}`,
    ledger: () => ledger,
    open: () => ledger.filter((entry) => entry.open),
    plan: (next) => { planFor = typeof next === "function" ? next : () => next; },
    accepted(identityOf = identityIn) {
      const counts = new Map<string, number>();
      for (const entry of ledger.filter(({ method }) => method !== "GET")) {
        const identity = identityOf(entry);
        counts.set(identity, (counts.get(identity) ?? 0) + Number(entry.accepted));
      }
      return counts;
    },
    forgetKeys: () => { remembered.clear(); },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The order's own key out of the body, else the whole body: never the `Idempotency-Key`. */
function identityIn({ body }: Arrival): string {
  try {
    const { businessKey } = JSON.parse(body) as { businessKey?: unknown };
    return typeof businessKey === "string" ? businessKey : body;
  } catch {
    return body;
  }
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}

async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}
