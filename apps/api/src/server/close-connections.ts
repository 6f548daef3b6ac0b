import type { App } from "./app.js";

/** Requests in flight get this long to be answered once the server closes, in milliseconds. */
const graceMs = 5_000;

/**
 * Ends every connection of a closing server as soon as nothing is in flight. Node closes idle connections itself, but
 * takes one on which nothing was ever asked for busy, and would wait for it for ever.
 */
export function closeConnections(app: App): void {
  let inFlight = 0;
  app.server.on("request", (_request, response) => {
    inFlight += 1;
    response.once("close", () => { inFlight -= 1; });
  });
  app.addHook("preClose", (done) => {
    const giveUpAt = performance.now() + graceMs;
    const timer = setInterval(() => {
      if (inFlight === 0 || performance.now() > giveUpAt) app.server.closeAllConnections();
    }, 25);
    app.server.once("close", () => { clearInterval(timer); });
    if (!app.server.listening) clearInterval(timer);
    done();
  });
}
