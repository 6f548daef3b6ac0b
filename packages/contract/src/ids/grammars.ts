import { z } from "zod";

/** A workspace's slug, which is the wire's tenant: 1 to 64 of letters, digits, dot, underscore, hyphen. */
export const WorkspaceSlug = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "expected 1 to 64 of A-Z a-z 0-9 . _ -");

/** A bound id `<tenant>/<opaque>` in its plain form, as bodies carry it. */
export const BoundId = z
  .string()
  .regex(
    /^(anon:)?[A-Za-z0-9._~-]{1,128}\/[A-Za-z0-9._~-]{16,128}$/,
    "expected a bound id <tenant>/<opaque>, the opaque half of 16 to 128 characters",
  );

/** An event's own id: unbound, 16 to 128 characters. */
export const EventId = z.string().regex(/^[A-Za-z0-9._~-]{16,128}$/);

/** The id of a workflow or of a node in one: 1 to 128 of letters, digits and `. _ ~ : -`. */
export const DefinitionId = z
  .string()
  .regex(/^[A-Za-z0-9._~:-]{1,128}$/, "expected 1 to 128 of A-Z a-z 0-9 . _ ~ : -");

/** A node type: dotted, lower case at the start, at most 256 characters, such as `core.delay`. */
export const TypeId = z
  .string()
  .max(256)
  .regex(/^[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$/, "expected a dotted type id such as core.delay");

/** The public half of an API key, safe to print and to log. */
export const KeyId = z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/);

/** What an `Idempotency-Key` header may hold; anything else is `idempotency_key_invalid`. */
export const IdempotencyKey = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{22,128}$/, "expected 22 to 128 of A-Z a-z 0-9 . _ ~ -");
