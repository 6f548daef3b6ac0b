import type { Socket } from "node:net";

/** What becomes of bytes that the server sent. Withheld bytes are kept and follow with the next forwarded ones. */
export type Fate = "forward" | "withhold" | "cut";

/** Looks at the bytes of one connection as they pass. */
export type Inspection = {
  toServer: (chunk: Buffer) => void;
  toClient: (chunk: Buffer) => Fate;
  /** The connection is over, cut or not. */
  closed?: () => void;
};

/** Which ways bytes pass. A closed way keeps what comes, as a network does whose packets are sent again. */
export type Ways = { toServer: "open" | "closed"; toClient: "open" | "closed" };

/** One client's connection and the connection to the server that stands for it. */
export type Link = Readonly<{
  /** Opens and closes the two ways as they are ordered now. */
  apply: () => void;
  /** Ends both connections with a reset. */
  reset: () => void;
}>;

/** What a link asks at every chunk. */
export type LinkOptions = Readonly<{
  client: Socket;
  server: Socket;
  /** What is ordered; it changes while the link lives. */
  ways: Readonly<Ways>;
  /** Milliseconds that every chunk is late, in each direction. */
  lateMs: () => number;
  inspection: Inspection | undefined;
  onCut: () => void;
  onClose: () => void;
}>;

/** Joins the two connections. What one end closes is closed at the other, once the way there is open. */
export function createLink(options: LinkOptions): Link {
  const { client, server, inspection } = options;
  let withheld: Buffer[] = [];
  let open = true;

  const end = (how: (socket: Socket) => void): void => {
    if (!open) return;
    open = false;
    how(client);
    how(server);
    inspection?.closed?.();
    options.onClose();
  };
  const reset = (): void => {
    end((socket) => void socket.resetAndDestroy());
  };
  const toServer = createWay({ from: client, to: server, lateMs: options.lateMs, isOpen: () => options.ways.toServer === "open" });
  const toClient = createWay({ from: server, to: client, lateMs: options.lateMs, isOpen: () => options.ways.toClient === "open" });

  client.on("data", (chunk: Buffer) => {
    inspection?.toServer(chunk);
    toServer.send(chunk);
  });
  server.on("data", (chunk: Buffer) => {
    const fate = inspection?.toClient(chunk) ?? "forward";
    if (fate === "cut") {
      options.onCut();
      reset();
      return;
    }
    withheld.push(chunk);
    if (fate === "withhold") return;
    for (const kept of withheld) toClient.send(kept);
    withheld = [];
  });
  for (const [way, socket, other] of [[toServer, client, server], [toClient, server, client]] as const) {
    socket.on("error", () => undefined); // a close follows
    socket.on("end", () => { way.finish(); });
    socket.on("close", (failed) => {
      if (failed) reset();
      else if (other.destroyed) end((each) => void each.destroy());
    });
  }
  const apply = (): void => {
    for (const [way, socket] of [[options.ways.toServer, client], [options.ways.toClient, server]] as const) {
      if (way === "open") socket.resume();
      else socket.pause();
    }
  };
  apply();
  return { apply, reset };
}

/** One direction: late chunks stay in order, and the end comes after the last of them. */
function createWay(
  { from, to, lateMs, isOpen }: { from: Socket; to: Socket; lateMs: () => number; isOpen: () => boolean },
): { send: (chunk: Buffer) => void; finish: () => void } {
  let clearAt = 0;
  const later = (act: () => void): void => {
    const now = performance.now();
    clearAt = Math.max(clearAt, now + lateMs());
    if (clearAt <= now) act();
    else setTimeout(act, clearAt - now);
  };
  to.on("drain", () => { if (isOpen()) from.resume(); });
  return {
    send: (chunk) => {
      later(() => {
        if (to.destroyed) return;
        if (!to.write(chunk)) from.pause();
      });
    },
    finish: () => { later(() => { to.end(); }); },
  };
}
