// The workflows of the big-batch case: as many nodes as a definition may have, and a thousand nodes that end in one tick.
import { defineWorkflow } from "@mainstay/sdk";

const names = (count) => Array.from({ length: count }, (_, index) => `n${index}`);
const full = process.env.MAINSTAY_TEST_SCALE === "full";

/** Layers of `width` nodes; each node of a layer stands after one node of the layer before. */
const layered = (id, layers, width) => defineWorkflow({
  id, version: "1",
  nodes: Object.fromEntries(names(layers * width).map((name, index) => [name, { run: () => ({ index }), ...(index < width ? {} : { after: [`n${index - width}`] }) }])),
});

/** One node, `width` nodes after it that end in one tick, one node after them all. */
const fan = (id, width, text = "") => defineWorkflow({
  id, version: "1",
  nodes: {
    source: { run: () => ({}) },
    ...Object.fromEntries(names(width).map((name) => [name, { after: ["source"], run: () => ({ name, text }) }])),
    join: { after: names(width), input: (done) => Object.keys(done).length, run: ({ input }) => ({ seen: input }) },
  },
});

export const workflows = [
  fan("big-fan", 1_000), fan("big-heavy", 60, "x".repeat(250_000)), fan("big-too-heavy", 100, "x".repeat(250_000)), layered("big-wide", 1, 1_000), layered("big-line", 500, 1),
  ...(full ? [layered("big-layers", 10, 1_000), layered("big-long-line", 10_000, 1)] : []),
];
