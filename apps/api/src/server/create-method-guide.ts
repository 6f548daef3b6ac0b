import type { FastifyRequest } from "fastify";
import type { App } from "./app.js";
import { Refusal } from "./refusal.js";

/** Says what a request that no route took should have been. */
export type MethodGuide = (request: FastifyRequest) => Refusal;

/**
 * Remembers every route that is added from now on. A known path under another method is `405` with `Allow`, OPTIONS
 * among them: this host answers no cross-origin questions. Any other path is `404`.
 */
export function createMethodGuide(app: App): MethodGuide {
  const methodsOf = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    if (url.includes("*")) return;
    const known = methodsOf.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const one of [method].flat()) known.methods.add(one);
    methodsOf.set(url, known);
  });
  return (request) => {
    const path = request.url.split("?")[0] ?? "";
    const allowed = [...methodsOf.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]);
    if (allowed.length === 0 || allowed.includes(request.method)) return new Refusal("not_found", `no such route: ${request.method} ${path}`);
    const allow = [...new Set(allowed)].sort().join(", ");
    return new Refusal("mainstay.method_not_allowed", `${request.method} is not served here; expected ${allow}`, { allow });
  };
}

/** A route's pattern as an expression over the raw path: parameters are one segment, `::` is a colon. */
function patternOf(url: string): RegExp {
  const parts = url.split(/(::|:\w+(?:\([^)]*\))?)/);
  const source = parts.map((part) => {
    if (part === "::") return ":";
    return part.startsWith(":") ? "[^/:]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${source.join("")}/?$`);
}
