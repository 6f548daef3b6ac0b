import { createHash } from "node:crypto";
import { createAccept, createDatabase, mintRunId, pinWorkflow, registerWorkflows } from "@mainstay/database";
import { workflows } from "../systems/workflows.mjs";

/** Accepts `count` no-op runs by the api's own statement, in large flushes. */
export async function preloadRuns(url, count, tell) {
  const db = createDatabase({ url, applicationName: "bench", poolSize: 3, statementTimeoutMs: 60_000, idleInTransactionMs: 10_000 });
  try {
    const { document } = workflows.find((workflow) => workflow.document.id === "noop");
    const pinned = pinWorkflow(document, "default");
    await registerWorkflows(db, [pinned]);
    const accept = createAccept(db, { dispatchBoundMs: 2_000, giveUpMs: 60_000, maxRows: 2_000 });
    const nextNodes = document.nodes.map(({ id, typeId }) => ({ id, typeId }));
    for (let done = 0; done < count;) {
      const size = Math.min(20_000, count - done);
      await Promise.all(Array.from({ length: size }, (_, k) => {
        const input = JSON.stringify({ id: `waiting-${done + k}`, ms: 0 });
        return accept({
          id: mintRunId(), workspace: "bench", workflowId: document.id, specHash: pinned.specHash, pool: "default",
          requires: pinned.requires, input, inputDigest: createHash("sha256").update(input).digest("hex"), subject: {}, nextNodes,
        });
      }));
      done += size;
      if (done % 100_000 === 0) tell(`${done} runs wait`);
    }
  } finally {
    await db.end();
  }
}
