import type { Scope } from "@mainstay/contract";

/** Who makes a request: a live key, its workspace and its scopes. */
export type Principal = Readonly<{ keyId: string; workspace: string; scopes: ReadonlySet<string> }>;

/** A request as its idempotency record knows it; the workspace is the principal's. */
export type Asked = Readonly<{ operation: string; key: string; bodyDigest: string }>;

/* eslint-disable @typescript-eslint/consistent-type-definitions -- only interfaces merge with the framework's own */
declare module "fastify" {
  interface FastifyRequest {
    /** Set on every route that is not open, before its body is read. */
    principal: Principal | undefined;
    /** Set once a request's `Idempotency-Key` and body are known: a definite refusal is kept under it. */
    asked: Asked | undefined;
  }
  interface FastifyContextConfig {
    /** The scope a key needs for this route; `open` needs no key. Every route names one. */
    scope?: Scope | "open";
  }
}
