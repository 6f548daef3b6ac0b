import { v7 } from "uuid";

/** Random bytes are asked for many ids at once: each request for some costs the system as much as one for many. */
const bytesOfAnId = 16;
const random = new Uint8Array(256 * bytesOfAnId);
let used = random.length;
/** The instant of the last id, and its counter within the millisecond. */
let msecs = Number.NEGATIVE_INFINITY;
let seq = 0;

/** The uuid of a run to be born: rises with time, so that a list by id is a list by age. Minted before the first try. */
export function mintRunId(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  const bytes = random.subarray(used, used += bytesOfAnId);
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = new DataView(bytes.buffer, bytes.byteOffset).getUint32(6) >>> 1; // room to count within the millisecond
  } else seq += 1;
  return v7({ random: bytes, msecs, seq });
}
