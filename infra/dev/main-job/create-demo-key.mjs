import { createHash, randomBytes } from "node:crypto";
import { createDatabase, createKey } from "@mainstay/database";

/** A key of the workspace `demo` that is good for a day. The workspace is made when it is new. */
export async function createDemoKey(databaseUrl) {
  const keyId = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const database = createDatabase({
    url: databaseUrl,
    applicationName: "mainstay-main-job",
    poolSize: 1,
    statementTimeoutMs: 10_000,
    idleInTransactionMs: 10_000,
  });
  try {
    await createKey(database, {
      keyId,
      workspace: "demo",
      name: "npm start",
      secretHash: createHash("sha256").update(secret).digest("hex"),
      scopes: ["runs:create", "runs:read", "runs:cancel", "ops:read"],
      expiresInMs: 24 * 60 * 60 * 1000,
    });
  } finally {
    await database.end();
  }
  return `mst_${keyId}_${secret}`;
}
