import net from "node:net";

/** The first port from `from` on that nobody listens on at 127.0.0.1 right now. */
export async function freePort(from) {
  for (let port = from; port < 65536; port++) {
    const free = await new Promise((resolve) => {
      const probe = net.createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error(`no free port from ${from} on`);
}
