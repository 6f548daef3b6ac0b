import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The outside world of the main job: an HTTP server on loopback that keeps a ledger of every arrival and does what it
 * is asked once per `Idempotency-Key`. A repeat gets the answer of the first. It answers after `answerAfterMs`, so that
 * requests are on the wire when a worker is killed.
 *
 * An entry is `{ key, identity, digest, at, accepted, answeredAt }`: the identity is the order's own business key out of
 * the body, so that one order under two keys would show; times are this process's monotonic milliseconds.
 */
export async function startReceiver({ answerAfterMs }) {
  const ledger = [];
  const answers = new Map(); // key → promise of the answer that the first arrival earned
  const server = createServer(async (request, response) => {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // a request that broke off before its end asked for nothing
    }
    const body = Buffer.concat(chunks);
    const key = request.headers["idempotency-key"] ?? "";
    const entry = {
      key,
      identity: identityIn(body),
      digest: createHash("sha256").update(body).digest("hex"),
      at: performance.now(),
      accepted: key === "" || !answers.has(key),
      answeredAt: undefined,
    };
    ledger.push(entry);
    if (entry.accepted) answers.set(key, accept(entry));
    const receipt = await answers.get(key);
    if (response.destroyed) return; // the sender is gone; what was done stays done
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(receipt));
    entry.answeredAt = performance.now();
  });
  async function accept({ identity }) {
    await sleep(answerAfterMs());
    return { receipt: `r-${identity}` };
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/charge`,
    ledger,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function identityIn(body) {
  try {
    return String(JSON.parse(body.toString()).businessKey);
  } catch {
    return "";
  }
}
