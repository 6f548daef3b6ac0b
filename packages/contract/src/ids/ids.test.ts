import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBoundId } from "./format-bound-id.js";
import { IdempotencyKey } from "./grammars.js";
import { parseBoundId } from "./parse-bound-id.js";
import { projectId } from "./project-id.js";
import { unprojectId } from "./unproject-id.js";

describe("bound ids", () => {
  it("project the slash to ~2F and back", () => {
    expect(projectId("acme/r-1")).toBe("acme~2Fr-1");
    expect(unprojectId("acme~2Fr-1")).toBe("acme/r-1");
    expect(unprojectId("acme~2fr-1")).toBe("acme/r-1");
  });

  it("arrive the same from a percent-decoded segment", () => {
    expect(unprojectId("acme/r-1")).toBe("acme/r-1");
  });

  it("refuse a tilde without two hex digits", () => {
    expect(unprojectId("acme~2")).toBeUndefined();
    expect(unprojectId("acme~zz1")).toBeUndefined();
    expect(unprojectId("~FF")).toBeUndefined();
  });

  it("survive projection whatever they hold", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (plain) => {
        const projected = projectId(plain);
        expect(projected).toMatch(/^[A-Za-z0-9._~-]*$/);
        expect(unprojectId(projected)).toBe(plain);
      }),
    );
  });

  it("split at the slash, and a bare id is refused", () => {
    const plain = formatBoundId("acme", "0190a1b2-0000-7000-8000-000000000000");
    expect(parseBoundId(plain)).toEqual({ workspace: "acme", opaque: "0190a1b2-0000-7000-8000-000000000000" });
    expect(parseBoundId("does-not-exist")).toBeUndefined();
    expect(parseBoundId("acme/short")).toBeUndefined();
  });
});

describe("an idempotency key", () => {
  it("has 22 to 128 unreserved characters", () => {
    expect(IdempotencyKey.safeParse("A".repeat(22)).success).toBe(true);
    expect(IdempotencyKey.safeParse("A".repeat(128)).success).toBe(true);
    expect(IdempotencyKey.safeParse("short").success).toBe(false);
    expect(IdempotencyKey.safeParse("A".repeat(129)).success).toBe(false);
    expect(IdempotencyKey.safeParse(`${"A".repeat(22)}/`).success).toBe(false);
  });
});
