import { preferredVersion, protocolVersions } from "@mainstay/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "./refusal.js";

/** Majors and full versions that the `OpenWOP-Version` header may name. */
const served = new Set(protocolVersions.flatMap((version) => [version, version.split(".")[0] ?? version]));

/** The least client major; `OpenWOP-Client-Version` below it is told so. */
const minClientMajor = 2;

/** Runs first on every request: says our version on every answer, errors too, and refuses a version not served. */
export async function negotiateVersion(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header("openwop-version", preferredVersion).header("x-request-id", request.id);
  const asked = request.headers["openwop-version"];
  if (request.url.startsWith("/v1/") && typeof asked === "string" && !/^1(\.\d+)?$/.test(asked)) {
    throw new Refusal("protocol_version_mismatch", "a path below /v1 is major 1, the OpenWOP-Version header names another; leave out one of the two");
  }
  if (asked !== undefined && !(typeof asked === "string" && served.has(asked))) {
    throw new Refusal("protocol_version_unsupported", `expected OpenWOP-Version ${protocolVersions.join(" or ")}`, {
      details: { protocolVersions: [...protocolVersions] },
    });
  }
  const client = /^(\d+)\.(\d+)$/.exec(String(request.headers["openwop-client-version"] ?? ""));
  if (client !== null && Number(client[1]) < minClientMajor) {
    throw new Refusal("client_version_unsupported", `expected OpenWOP-Client-Version ${String(minClientMajor)}.0 or later`);
  }
  if (request.headers["openwop-force-engine-version"] !== undefined) {
    throw new Refusal("force_engine_version_forbidden", "this host runs one engine version; leave the header out");
  }
  await Promise.resolve();
}
