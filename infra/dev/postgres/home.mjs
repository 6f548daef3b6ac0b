import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isRoot, runAs } from "./account.mjs";

/** `home` itself, or /var/lib/mainstay/<digest> when a closed folder (mode 0700) lies above it and root starts. */
export function reachableHome(home, account) {
  if (!isRoot) return home;
  let existing = path.dirname(home);
  while (!fs.existsSync(existing)) existing = path.dirname(existing);
  if (runAs(account, "test", ["-x", existing]).status === 0) return home;
  const digest = createHash("sha256").update(home).digest("hex").slice(0, 12);
  return path.join("/var/lib/mainstay", digest);
}

/** Folders made on the way are open to the account, whatever the umask says; the data itself is 0700. */
export function makeHome(home, { uid, gid }) {
  const first = fs.mkdirSync(home, { recursive: true });
  if (uid === undefined) return;
  for (let made = home; first && made.length >= first.length; made = path.dirname(made)) {
    fs.chmodSync(made, 0o755);
  }
  fs.chownSync(home, uid, gid);
}

/** Writes a file that only the account can read; an existing one is an error. */
export function writeOwned(file, text, { uid, gid }) {
  fs.writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  if (uid !== undefined) fs.chownSync(file, uid, gid);
}
