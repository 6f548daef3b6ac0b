// The probe nodes of the wire's cases: what they return, throw and say is what the run's input asks for.
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from "@mainstay/sdk";

const odd = {
  nul: "a\u0000b", lone: "a\ud800b", literal: "\\u0000", controls: "\u0001\u0008\u001b\u007f\u009f", right: "\u202eevil\u2066\u200f", emoji: "😀", separators: "\u2028\u2029",
};

const echo = defineWorkflow({ id: "wire-echo", version: "1", nodes: { echo: { type: "core.identity" } } });

/** Answers so many bytes of JSON, or throws so long a text. */
const big = defineWorkflow({
  id: "wire-big", version: "1",
  nodes: {
    big: {
      retry: { maxRetries: 3, baseMs: 50 },
      run: ({ run }) => {
        if (run.input.error !== undefined) throw new Error("e".repeat(run.input.error));
        return "x".repeat(run.input.bytes - 2);
      },
    },
  },
});

/** Odd text as output and member name, in a log line, thrown. */
const text = defineWorkflow({
  id: "wire-text", version: "1",
  nodes: {
    say: {
      retry: { maxRetries: 2, baseMs: 50 },
      run: ({ run, logger }) => {
        for (const one of Object.values(odd)) logger.info(one, { [one]: one });
        if (run.input.thrown !== undefined) throw new Error(odd[run.input.thrown]);
        return { ...odd, names: Object.fromEntries(Object.entries(odd).map(([name, one]) => [one, name])) };
      },
    },
  },
});

/** Waits as long as the input says, with its slot free. */
const wait = defineWorkflow({ id: "wire-wait", version: "1", nodes: { wait: { type: "core.delay", config: { delayMs: { $input: "delayMs" } } } } });
const fails = defineWorkflow({
  id: "wire-fails", version: "1",
  nodes: { wait: { type: "core.delay", config: { delayMs: { $input: "delayMs" } } }, fail: { type: "core.fail", after: ["wait"], retry: { maxRetries: 0 } } },
});

/** Its last node ends at the instant of the day that the input names, after one effect of its own. */
const until = defineWorkflow({
  id: "wire-until", version: "1",
  nodes: {
    last: {
      run: async (ctx) => {
        const { at, url } = ctx.run.input;
        await sleep(Math.max(0, at - 300 - Date.now()), undefined, { signal: ctx.signal });
        await ctx.effect("tell", { class: "idempotent_write", destination: "receiver", timeoutMs: 5_000 }, async ({ idempotencyKey, signal }) => {
          await fetch(url, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ key: idempotencyKey }), signal });
          return {};
        });
        await sleep(Math.max(0, at - Date.now()), undefined, { signal: ctx.signal });
        return { at };
      },
    },
  },
});

/** Layers of nodes, each as wide as `width`; a layer ends `layerMs` after the one before. */
const layers = (id, count, width) => defineWorkflow({
  id, version: "1",
  nodes: Object.fromEntries(Array.from({ length: count * width }, (_, index) => {
    const [layer, place] = [Math.floor(index / width), index % width];
    return [`n${layer}-${place}`, {
      ...(layer === 0 ? {} : { after: [`n${layer - 1}-${place}`] }),
      run: async (ctx) => {
        await sleep(ctx.run.input.layerMs ?? 0, undefined, { signal: ctx.signal });
        return { layer, place };
      },
    }];
  })),
});

/** A log of twelve megabytes: sixty heavy nodes, and one that says little after them. */
const heavy = defineWorkflow({
  id: "wire-heavy", version: "1",
  nodes: {
    ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`n${index}`, { run: () => ({ text: "x".repeat(200_000) }) }])),
    last: { after: Array.from({ length: 60 }, (_, index) => `n${index}`), run: () => ({}) },
  },
});

/** One effect, and a node after it that fails when it is asked to. */
const charge = defineWorkflow({
  id: "wire-charge", version: "1",
  nodes: {
    charge: {
      run: (ctx) => ctx.effect("charge", { class: "idempotent_write", destination: "receiver", timeoutMs: 5_000 }, async ({ idempotencyKey, signal }) => {
        await fetch(ctx.run.input.url, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ order: ctx.run.input.order }), signal });
        return { key: idempotencyKey };
      }),
    },
    last: {
      after: ["charge"], retry: { maxRetries: 0 }, input: (done) => done.charge,
      run: (ctx) => {
        if (ctx.run.input.fails) throw new Error("asked to");
        return ctx.input;
      },
    },
  },
});

export const workflows = [echo, big, text, wait, fails, until, charge, layers("wire-long", 25, 100), layers("wire-short", 10, 10), heavy];
