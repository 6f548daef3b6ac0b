import { EffectSeams, ErrorEnvelope, type EffectSeam } from "@mainstay/contract";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";

const ledger = "effect ledger: the identity is committed before the request leaves; one request a launch; an unclear outcome is never fired again blindly";

/** Every way by which the code of a node reaches outside through this host. */
const seams: EffectSeam[] = [
  {
    seam: "http.request", kind: "http", guarded: true, guardedBy: `${ledger}; addresses checked and pinned by the egress guard`, branchReFires: true,
    note: "the built-in node type; redirects are not followed",
  },
  {
    seam: "ctx.effect", kind: "provider-sdk", guarded: true, guardedBy: ledger, branchReFires: true,
    note: "a node's own client inside ctx.effect; what code sends outside of ctx.effect is no seam of this host and happens at least once",
  },
  {
    seam: "ctx.effect reconcile", kind: "other", guarded: true, guardedBy: "asked by effect identity after the quiet instant; five times at most", branchReFires: true,
    note: "reads whether an effect happened; declared read-only by the workflow",
  },
];

/** `GET /host/effect-seams`: every outbound path of node code and what guards it. */
export function addEffectSeams(app: App, { config }: ApiParts): void {
  app.get("/host/effect-seams", {
    config: { scope: "manifest:read" },
    schema: {
      operationId: "getEffectSeams",
      summary: "Lists every outbound path of node code and what guards it",
      tags: ["discovery"],
      response: { 200: EffectSeams, 401: ErrorEnvelope, 403: ErrorEnvelope },
    },
  }, () => ({ manifestVersion: "1" as const, host: { name: "mainstay", build: { kind: "commit" as const, id: config.commit } }, seams }));
}
