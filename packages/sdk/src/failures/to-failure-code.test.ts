import { describe, expect, it } from "vitest";
import { NotApplied } from "./not-applied.js";
import { toFailureCode } from "./to-failure-code.js";
import { WorkflowFailure } from "./workflow-failure.js";

describe("toFailureCode", () => {
  it("keeps the code of a coded failure, also as a cause", () => {
    expect(toFailureCode(new WorkflowFailure("app.card_declined"))).toBe("app.card_declined");
    expect(toFailureCode(new Error("wrapped", { cause: new NotApplied("app.no") }))).toBe("app.no");
  });

  it("maps machine codes of Node through fetch's cause to a transient code", () => {
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    expect(toFailureCode(new TypeError("fetch failed", { cause: reset }))).toBe("platform.dependency_unavailable");
    expect(toFailureCode(Object.assign(new Error(), { code: "ETIMEDOUT" }))).toBe("platform.timeout");
    expect(toFailureCode(new DOMException("late", "TimeoutError"))).toBe("platform.timeout");
  });

  it("maps statuses of HTTP answers wherever libraries put them", () => {
    expect(toFailureCode({ status: 429 })).toBe("platform.rate_limited");
    expect(toFailureCode({ statusCode: 503 })).toBe("platform.provider_overloaded");
    expect(toFailureCode({ response: { status: 502 } })).toBe("platform.dependency_unavailable");
  });

  it("calls everything else unclassified and never reads a text", () => {
    for (const thrown of [new Error("ECONNRESET 503 timeout"), "ETIMEDOUT", undefined, null, 503, { status: 400 }, new DOMException("x", "AbortError")]) {
      expect(toFailureCode(thrown)).toBe("platform.unclassified");
    }
  });

  it("ends on a cause that is its own cause", () => {
    const loop = new Error("loop");
    loop.cause = loop;
    expect(toFailureCode(loop)).toBe("platform.unclassified");
  });
});

describe("a coded failure", () => {
  it("refuses a code outside the grammar", () => {
    expect(() => new WorkflowFailure("card declined")).toThrow("platform.<snake_case> or app.<snake_case>");
    expect(() => new NotApplied("declined")).toThrow(TypeError);
  });

  it("is recognised across copies of the package", () => {
    expect(WorkflowFailure.is(new WorkflowFailure("app.x"))).toBe(true);
    expect(WorkflowFailure.is(new NotApplied("app.x"))).toBe(false);
    expect(NotApplied.is(new Error("x"))).toBe(false);
  });
});
