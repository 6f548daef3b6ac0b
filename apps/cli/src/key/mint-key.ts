import { createHash, randomBytes } from "node:crypto";
import { formatApiKey } from "@mainstay/contract";

/** A new key: what is shown once, and what is stored of it. The secret has 256 random bits, so its plain digest is safe. */
export function mintKey(): { key: string; keyId: string; secretHash: string } {
  const keyId = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  return { key: formatApiKey({ keyId, secret }), keyId, secretHash: createHash("sha256").update(secret).digest("hex") };
}
