import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "./define-workflow.js";
import { findCycle } from "./find-cycle.js";

const bank = {
  charge: (total: number, options: { idempotencyKey: string; signal: AbortSignal }) =>
    Promise.resolve({ id: `${options.idempotencyKey}:${String(total)}`, declined: false }),
  find: (effectId: string) => Promise.resolve({ happened: true as const, result: { receipt: effectId } }),
};

const invoice = defineWorkflow({
  id: "invoice",
  version: "3",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  failures: {
    card_declined: { class: "NON_RETRYABLE", message: "The card was declined", remediation: "Ask the payer" },
  },
  nodes: {
    price: { run: (ctx) => ({ total: Math.round(ctx.run.input.cents * 1.19) }) },
    charge: {
      after: ["price"],
      input: (done) => ({ total: (done.price as { total: number }).total }),
      retry: { maxRetries: 0 },
      timeoutMs: 30_000,
      requires: { destinations: ["bank"] },
      run: (ctx) =>
        ctx.effect(
          "charge",
          {
            class: "idempotent_write",
            businessKey: ctx.run.input.order,
            destination: "bank",
            timeoutMs: 10_000,
            reconcile: ({ effectId }) => bank.find(effectId),
          },
          async ({ idempotencyKey, signal }) => {
            const answer = await bank.charge((ctx.input as { total: number }).total, { idempotencyKey, signal });
            if (answer.declined) throw ctx.notApplied("app.card_declined");
            return { receipt: answer.id };
          },
        ),
    },
    tell: { type: "http.request", after: ["charge"], config: { method: "POST" }, input: (done) => ({ body: done.charge as unknown }) },
  },
});

describe("defineWorkflow", () => {
  it("takes ten thousand nodes in a line, and refuses one more by the name of the limit", () => {
    const line = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) =>
      [`n${String(index)}`, { type: "core.noop" as const, ...(index + 1 < length ? { after: [`n${String(index + 1)}`] } : {}) }]));
    expect(defineWorkflow({ id: "line", version: "1", nodes: line(10_000) }).document.nodes).toHaveLength(10_000);
    expect(() => defineWorkflow({ id: "line", version: "1", nodes: line(10_001) })).toThrow("at most 10000 nodes, the limit maxNodeExecutions");
  });

  it("makes a document with every default filled in", () => {
    expect(invoice.document).toEqual({
      id: "invoice",
      version: "3",
      name: "invoice",
      settings: {},
      triggers: ["manual"],
      failures: {
        card_declined: { class: "NON_RETRYABLE", message: "The card was declined", remediation: "Ask the payer" },
      },
      inputSchema: expect.objectContaining({ type: "object", required: ["order", "cents"] }) as unknown,
      nodes: [
        {
          id: "price", typeId: "mainstay.code", after: [], retry: { maxRetries: 3, baseMs: 1000 }, timeoutMs: 0,
          optional: false, requires: { credentials: [], tools: [], destinations: [] }, config: {},
        },
        {
          id: "charge", typeId: "mainstay.code", after: ["price"], retry: { maxRetries: 0, baseMs: 1000 },
          timeoutMs: 30_000, optional: false, requires: { credentials: [], tools: [], destinations: ["bank"] }, config: {},
        },
        {
          id: "tell", typeId: "http.request", after: ["charge"], retry: { maxRetries: 3, baseMs: 1000 }, timeoutMs: 0,
          optional: false, requires: { credentials: [], tools: [], destinations: [] }, config: { method: "POST", mapped: true },
        },
      ],
    });
  });

  it("keeps code apart from the document", () => {
    expect(Object.keys(invoice.code)).toEqual(["price", "charge", "tell"]);
    expect(invoice.code.tell?.run).toBeUndefined();
    expect(JSON.parse(JSON.stringify(invoice.document))).toEqual(invoice.document);
  });

  it("names every problem of a refused definition at once", () => {
    const define = () =>
      defineWorkflow({
        id: "in voice",
        version: "",
        failures: {
          "platform.timeout": { class: "TRANSIENT", message: "m", remediation: "r" },
          "Card": { class: "TRANSIENT", message: "m", remediation: "r" },
        },
        nodes: {
          a: { type: "core.noop", after: ["gone"] },
          b: { type: "core.noop", retry: { maxRetries: Infinity } },
          c: { type: "core.noop", timeoutMs: 0 },
        },
      });
    for (const part of [
      'seen "in voice"', "version:", 'nodes.a.after: no node "gone"', "nodes.b.retry.maxRetries", "seen Infinity",
      "nodes.c.timeoutMs", "failures.platform.timeout: platform.* codes are the engine's", "failures.Card: expected a lower snake",
    ]) {
      expect(define).toThrow(part);
    }
  });

  it("names the path of a cycle", () => {
    expect(() =>
      defineWorkflow({
        id: "loop",
        version: "1",
        nodes: {
          start: { type: "core.noop" },
          a: { type: "core.noop", after: ["c", "start"] },
          b: { type: "core.noop", after: ["a"] },
          c: { type: "core.noop", after: ["b"] },
        },
      }),
    ).toThrow("a cycle a → c → b → a");
  });

  it("refuses a missing retry bound, an unknown type and a node with neither type nor run", () => {
    const wrong = {
      id: "w",
      version: "1",
      nodes: { a: { type: "core.nope" }, b: {}, c: { type: "core.noop", retry: {} } },
    } as unknown as Parameters<typeof defineWorkflow>[0];
    expect(() => defineWorkflow(wrong)).toThrow(/nodes\.a\.type.*nodes\.b: expected a type or a run.*nodes\.c\.retry\.maxRetries/s);
  });

  it("leaves the schema out of the document when it cannot be said in JSON Schema", () => {
    const { document } = defineWorkflow({ id: "d", version: "1", input: z.object({ at: z.date() }), nodes: { a: { type: "core.noop" } } });
    expect(document.inputSchema).toBeUndefined();
  });
});

describe("findCycle", () => {
  it("finds none in a diamond, and a node that waits for itself", () => {
    expect(findCycle(new Map([["a", []], ["b", ["a"]], ["c", ["a"]], ["d", ["b", "c"]]]))).toBeUndefined();
    expect(findCycle(new Map([["a", ["a"]]]))).toEqual(["a", "a"]);
  });

  it("walks past a tail that hangs on a cycle", () => {
    expect(findCycle(new Map([["t", ["a"]], ["a", ["b"]], ["b", ["a"]]]))).toEqual(["a", "b", "a"]);
  });
});
