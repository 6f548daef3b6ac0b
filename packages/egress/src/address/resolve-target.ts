import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { judgeAddress, type Range } from "./judge-address.js";

/** Turns a host name into addresses; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Where a request may go: the checked addresses, to be connected to as they are. */
export type Target =
  | { ok: true; addresses: readonly string[]; hostname: string; port: number; secure: boolean }
  | { ok: false; reason: "resolve" | "egress_denied"; detail: string };

/** The system's resolver, hosts file included, in the order it answers. */
export async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);
}

function denied(detail: string): Target {
  return { ok: false, reason: "egress_denied", detail };
}

/**
 * Resolves the host of a URL once and judges every address it has; one bad
 * address denies them all, so that nothing depends on which is tried. Outside
 * the opened ranges only https on port 443 is allowed. Fails closed.
 */
export async function resolveTarget(url: URL, { allow, resolve }: { allow: readonly Range[]; resolve: Resolve }): Promise<Target> {
  const secure = url.protocol === "https:";
  if (!secure && url.protocol !== "http:") return denied("expected an https URL");
  if (url.username !== "" || url.password !== "") return denied("expected a URL without user and password");
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);

  let addresses: readonly string[];
  try {
    addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { ok: false, reason: "resolve", detail: `the host could not be resolved: ${code}` };
  }
  if (addresses.length === 0) return { ok: false, reason: "resolve", detail: "the host has no address" };

  const verdicts = addresses.map((address) => judgeAddress(address, allow));
  if (verdicts.includes("denied")) return denied("the host has an address that is not public; MAINSTAY_EGRESS_ALLOW can open its range");
  if (verdicts.includes("public") && !(secure && port === 443)) {
    return denied("expected https on port 443; MAINSTAY_EGRESS_ALLOW can open a range to plain http and other ports");
  }
  return { ok: true, addresses, hostname, port, secure };
}
