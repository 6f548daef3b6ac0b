import { afterAll, beforeAll, expect, test } from "vitest";
import { beatIncarnation, createDatabase, doubtIncarnation } from "../../src/index.js";
import { openBench, type Bench } from "../bench/open-bench.js";
import { beginWorker } from "../bench/seed.js";

let bench: Bench;
beforeAll(async () => { bench = await openBench(); });
afterAll(() => bench.close());

test("a peer without sessions is doubted only once it has beaten since the asker's session began", async () => {
  const [peer, me] = [await beginWorker(bench.db), await beginWorker(bench.db)];
  // the session of an asker that has just come back from an outage, which the peer may not have done yet
  const fresh = createDatabase({ url: bench.url, applicationName: "asker", poolSize: 1, statementTimeoutMs: 5_000, idleInTransactionMs: 5_000 });
  try {
    expect(await doubtIncarnation(fresh, { peer, me })).toMatchObject({ live: true, connected: true });
    await beatIncarnation(bench.db, { id: peer, heartbeatMs: 1_000, ring: 2 });
    expect(await doubtIncarnation(fresh, { peer, me })).toMatchObject({ live: true, connected: false });
  } finally {
    await fresh.end();
  }
});
