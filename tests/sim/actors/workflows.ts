import { pinWorkflow, type RegisteredWorkflow } from "@mainstay/database";
import { defineWorkflow, type NodeContext, type Workflow } from "@mainstay/sdk";
import { currentProcess } from "../world/process.js";
import type { OutsideWorld } from "./outside-world.js";

/** What the code of the sample workflows can do and tell. */
export type Stage = Readonly<{
  outside: OutsideWorld;
  /** Waits in the simulation's time. */
  rest: (ms: number) => Promise<void>;
  below: (n: number) => number;
  /** Code of a node begins: the ledger of executions. */
  begins: (context: NodeContext, node: string) => void;
  /** The process that runs this code dies. */
  crash: () => void;
  /** How often the poisoned node kills its process. */
  poisonOf: (run: string) => number;
}>;

export type SampleWorkflow = Readonly<{ workflow: Workflow; pinned: RegisteredWorkflow; specHash: string }>;

export const POOL = "default";

/** The workflows of the simulation, from a straight line to an unsafe effect that nobody can ask about. */
export function sampleWorkflows(stage: Stage): ReadonlyMap<string, SampleWorkflow> {
  const quick = { maxRetries: 2, baseMs: 200 };
  const step = (name: string, ms: number) => ({
    retry: quick,
    run: async (context: NodeContext) => {
      stage.begins(context, name);
      await stage.rest(1 + stage.below(ms));
      return { name };
    },
  });
  const exactly = (name: string, ms: number) => ({
    retry: quick,
    run: async (context: NodeContext) => {
      stage.begins(context, name);
      await stage.rest(ms);
      return { name };
    },
  });
  type Kind = { class: "idempotent_write" | "non_idempotent_write" | "read_only"; asks: boolean; shared: boolean };
  const effectful = (name: string, { class: effectClass, asks, shared }: Kind) => ({
    retry: quick,
    run: async (context: NodeContext) => {
      stage.begins(context, name);
      const order = (context.run.input as { order?: string }).order ?? "none";
      return context.effect(name, {
        class: effectClass, destination: "bank", timeoutMs: 1_500, keyRetentionMs: 600_000, request: { order },
        ...(shared ? { businessKey: order } : {}),
        ...(asks ? { reconcile: async ({ idempotencyKey }) => stage.outside.ask(idempotencyKey) } : {}),
      }, async ({ idempotencyKey, launch, signal }) =>
        stage.outside.request({ identity: idempotencyKey, launch, signal, unsafe: effectClass === "non_idempotent_write", keyed: effectClass === "idempotent_write" }));
    },
  });
  const failing = (name: string, times: number) => ({
    retry: quick,
    run: async (context: NodeContext) => {
      stage.begins(context, name);
      await stage.rest(5);
      if (context.attempt < times) throw context.failure("platform.dependency_unavailable");
      return {};
    },
  });
  const definitions = [
    defineWorkflow({ id: "line", version: "1", nodes: { a: step("a", 40), b: { ...step("b", 300), after: ["a"] } } }),
    defineWorkflow({ id: "fan", version: "1", nodes: {
      a: step("a", 10), b: { ...step("b", 20), after: ["a"] }, c: { ...step("c", 20), after: ["a"] }, d: { ...failing("d", 2), after: ["a"] },
      e: { ...step("e", 10), after: ["b", "c", "d"] },
    } }),
    // waits and nodes that end at one instant: what comes due meets a write that is under way
    defineWorkflow({ id: "waits", version: "1", nodes: {
      a: step("a", 10), w: { type: "core.delay", config: { delayMs: 150 }, after: ["a"] }, v: { type: "core.delay", config: { delayMs: 900 }, after: ["a"] },
      b: { ...exactly("b", 150), after: ["a"] }, c: { ...exactly("c", 148), after: ["a"] }, d: { ...step("d", 1_200), after: ["a"] }, r: { ...failing("r", 1), after: ["a"] },
      u: { type: "core.delay", config: { delayMs: 200 }, after: ["b"] }, t: { type: "core.delay", config: { delayMs: 600 }, after: ["b"] },
      e: { ...step("e", 10), after: ["w", "v", "b", "c", "d", "r", "u", "t"] },
    } }),
    defineWorkflow({ id: "long", version: "1", nodes: { a: step("a", 10), b: { ...step("b", 5_000), after: ["a"] } } }),
    defineWorkflow({ id: "pays", version: "1", nodes: { a: step("a", 20), p: { ...effectful("p", { class: "idempotent_write", asks: false, shared: false }), after: ["a"] }, z: { ...step("z", 10), after: ["p"] } } }),
    defineWorkflow({ id: "wires", version: "1", nodes: { p: effectful("p", { class: "non_idempotent_write", asks: true, shared: false }), z: { ...step("z", 10), after: ["p"] } } }),
    defineWorkflow({ id: "blind", version: "1", nodes: { p: effectful("p", { class: "non_idempotent_write", asks: false, shared: false }), z: { ...step("z", 10), after: ["p"] } } }),
    defineWorkflow({ id: "shares", version: "1", nodes: { p: effectful("p", { class: "idempotent_write", asks: false, shared: true }), z: { ...step("z", 10), after: ["p"] } } }),
    defineWorkflow({ id: "meets", version: "1", nodes: { p: effectful("p", { class: "non_idempotent_write", asks: true, shared: true }), z: { ...step("z", 10), after: ["p"] } } }),
    defineWorkflow({ id: "poison", version: "1", nodes: { a: step("a", 20), x: {
      after: ["a"], retry: quick,
      run: async (context: NodeContext) => {
        stage.begins(context, "x");
        await stage.rest(3);
        if (context.attempt < stage.poisonOf(context.run.id)) {
          stage.crash();
          await new Promise(() => undefined);
        }
        return { process: currentProcess()?.name ?? "" };
      },
    } } }),
    // a deadline that passes about when an unsafe effect is launched, and one that passes long before a timer's time
    defineWorkflow({ id: "brink", version: "1", runTimeoutMs: 2_500, nodes: { a: step("a", 2_600), p: { ...effectful("p", { class: "non_idempotent_write", asks: false, shared: false }), after: ["a"] } } }),
    defineWorkflow({ id: "late", version: "1", runTimeoutMs: 3_000, nodes: { a: step("a", 20), w: { type: "core.delay", config: { delayMs: 20_000 }, after: ["a"] } } }),
    defineWorkflow({ id: "fails", version: "1", runTimeoutMs: 6_000, nodes: { a: step("a", 20), f: { ...failing("f", 9), after: ["a"] }, l: { ...step("l", 2_000), after: ["a"] } } }),
  ];
  return new Map(definitions.map((workflow) => {
    const pinned = pinWorkflow(workflow.document, POOL);
    return [workflow.document.id, { workflow, pinned, specHash: pinned.specHash }];
  }));
}
