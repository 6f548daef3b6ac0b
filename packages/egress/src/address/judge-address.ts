import ipaddr from "ipaddr.js";

/** `public`: anybody’s. `allowed`: inside a range the operator opened. `denied`: everything else. */
export type AddressVerdict = "public" | "allowed" | "denied";

/** A parsed CIDR range. */
export type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Where all public IPv6 addresses lie. */
const globalUnicast: Range = ipaddr.parseCIDR("2000::/3");

/** Public by number, private by use: a cloud’s metadata and host services. */
const metadata: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Parses a CIDR range; throws when the text is none. */
export function parseRange(text: string): Range {
  return ipaddr.parseCIDR(text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`);
}

/** The address itself, out of its IPv4-mapped form where it stands in one. */
function bare(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // A zone names an interface of this host: no public address has one.
  if (!ipaddr.isValid(address) || address.includes("%")) return undefined;
  return ipaddr.process(address);
}

function inRange(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}

/**
 * Judges one resolved address. Only plain unicast is public: private, shared
 * (carrier-grade NAT), link-local, loopback, unique-local, multicast, reserved
 * and documentation ranges, metadata services, and every form that carries an
 * IPv4 address inside an IPv6 one (NAT64, 6to4, Teredo) are denied unless the
 * operator opened the range. An IPv4-mapped address is judged as its IPv4 self.
 */
export function judgeAddress(address: string, allow: readonly Range[]): AddressVerdict {
  const parsed = bare(address);
  if (parsed === undefined) return "denied";
  if (allow.some((range) => inRange(parsed, range))) return "allowed";
  if (parsed.range() !== "unicast" || metadata.has(parsed.toString())) return "denied";
  return parsed instanceof ipaddr.IPv4 || inRange(parsed, globalUnicast) ? "public" : "denied";
}
