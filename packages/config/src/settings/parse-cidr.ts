import { isIP } from "node:net";

/**
 * The range in the form `<address>/<bits>`, or `undefined` when the text is no
 * address and no CIDR range. A bare address becomes the range of itself alone.
 */
export function parseCidr(text: string): string | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return undefined;
  const widest = family === 4 ? 32 : 128;
  if (bits === undefined) return `${address}/${widest}`;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= widest ? text : undefined;
}
