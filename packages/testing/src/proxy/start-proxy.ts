import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { createLink, type Inspection, type Link, type Ways } from "./link.js";

/** Where the proxy leads. */
export type ProxyTarget = Readonly<{ host: string; port: number }>;

/** A rule that looks at every connection made from now on, and may cut it. */
export type ProxyRule = () => Inspection;

/** A TCP proxy whose faults are ordered while connections pass through it. */
export type Proxy = Readonly<{
  host: string;
  port: number;
  /** The same URL, leading through the proxy. */
  through: (url: string) => string;
  /** Connections made from now on go to another server, as behind a name that moved; open ones stay where they are. */
  leadTo: (target: ProxyTarget | string) => void;
  /** Connections that are open now. */
  connections: () => number;
  /** Connections that rules have cut so far. */
  cuts: () => number;
  /** From now on every chunk is late by so many milliseconds, in each direction. */
  delay: (ms: number) => void;
  /** Nothing passes either way and nothing closes; new connections are taken and stay silent. */
  blackHole: () => void;
  /** Requests still arrive, replies do not: the half of a connection that a client cannot tell from a slow server. */
  halfOpen: () => void;
  /** Resets every open connection; new ones are served. */
  reset: () => void;
  /** Resets every open connection and every new one. */
  refuse: () => void;
  /** Looks at connections made from now on by this rule; `undefined` looks at none. Open ones are reset to come under it. */
  inspect: (rule: ProxyRule | undefined) => void;
  /** Everything passes again, what was held back first. Rules stay. */
  heal: () => void;
  /** Resets everything and stops listening. */
  stop: () => Promise<void>;
}>;

/** Starts a proxy on a free port of 127.0.0.1. Everything passes until a fault is ordered. */
export async function startProxy(target: ProxyTarget | string): Promise<Proxy> {
  let to = typeof target === "string" ? placeOf(target) : target;
  const links = new Set<Link>();
  const ways: Ways = { toServer: "open", toClient: "open" };
  let taking: "all" | "none" = "all";
  let lateMs = 0;
  let cuts = 0;
  let rule: ProxyRule | undefined;

  const take = (client: Socket): void => {
    if (taking === "none") {
      client.resetAndDestroy();
      return;
    }
    client.setNoDelay(true);
    const link = createLink({
      client,
      server: connect({ ...to, noDelay: true }),
      ways,
      lateMs: () => lateMs,
      inspection: rule?.(),
      onCut: () => { cuts += 1; },
      onClose: () => { links.delete(link); },
    });
    links.add(link);
  };
  const server = createServer({ allowHalfOpen: true }, take).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the system gave the proxy no port");
  const { port } = address;

  const set = (next: Ways): void => {
    Object.assign(ways, next);
    for (const link of links) link.apply();
  };
  const reset = (): void => {
    for (const link of [...links]) link.reset();
  };
  return {
    host: "127.0.0.1",
    port,
    through(url) {
      const led = new URL(url);
      led.hostname = "127.0.0.1";
      led.port = String(port);
      return String(led);
    },
    leadTo: (next) => { to = typeof next === "string" ? placeOf(next) : next; },
    connections: () => links.size,
    cuts: () => cuts,
    delay: (ms) => { lateMs = ms; },
    blackHole: () => { set({ toServer: "closed", toClient: "closed" }); },
    halfOpen: () => { set({ toServer: "open", toClient: "closed" }); },
    reset,
    refuse() {
      taking = "none";
      reset();
    },
    inspect(next) {
      rule = next;
      reset();
    },
    heal() {
      taking = "all";
      lateMs = 0;
      set({ toServer: "open", toClient: "open" });
    },
    async stop() {
      taking = "none";
      reset();
      server.close();
      await once(server, "close");
    },
  };
}

function placeOf(url: string): ProxyTarget {
  const { hostname, port, protocol } = new URL(url);
  const usual: Record<string, number> = { "redis:": 6379, "postgres:": 5432, "postgresql:": 5432, "http:": 80 };
  return { host: hostname, port: port === "" ? (usual[protocol] ?? 0) : Number(port) };
}
