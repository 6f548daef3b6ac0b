import type { FastifyRequest } from "fastify";
import { Refusal } from "../server/refusal.js";
import type { Principal } from "./principal.js";

/** The principal of a request. Throws on an open route, which has none. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === undefined) throw new Refusal("unauthenticated", "this route needs a key");
  return request.principal;
}
