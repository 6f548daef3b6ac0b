import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Issues and reads cursors of one kind of list. */
export type Cursors = Readonly<{
  /** `position` is where the next page starts after; `filter` is everything that selected the page. */
  issue: (position: string, filter: readonly unknown[]) => string;
  /** @returns the position, or `undefined` for a cursor that was tampered with or issued for another filter. */
  read: (cursor: string, filter: readonly unknown[]) => string | undefined;
}>;

const tagBytes = 16;

/**
 * Cursors are signed with a key derived from the fleet's `secret`, so that each api reads what another issued, and
 * carry the digest of their filter: a cursor of another list or workspace is foreign.
 */
export function createCursors(secret: string): Cursors {
  const key = Buffer.from(hkdfSync("sha256", secret, "mainstay", "cursor/v1", 32));

  function tag(position: string, filter: readonly unknown[]): Buffer {
    return createHmac("sha256", key).update(JSON.stringify([position, filter])).digest().subarray(0, tagBytes);
  }

  return {
    issue: (position, filter) => Buffer.concat([tag(position, filter), Buffer.from(position)]).toString("base64url"),
    read(cursor, filter) {
      const bytes = Buffer.from(cursor, "base64url");
      if (bytes.length <= tagBytes || bytes.toString("base64url") !== cursor) return undefined;
      const position = bytes.subarray(tagBytes).toString();
      return timingSafeEqual(bytes.subarray(0, tagBytes), tag(position, filter)) ? position : undefined;
    },
  };
}
