import { defineWorkflow } from "@mainstay/sdk";
import { reportStep } from "../measure/report-step.mjs";

const step = (number, msOf = () => 0) => ({ run: async (ctx) => ({ step: await reportStep(ctx.run.input.id, number, msOf(ctx)) }) });
const chain = (steps) => Object.fromEntries(steps.map((node, k) => [`step${k + 1}`, k === 0 ? node : { ...node, after: [`step${k}`] }]));

/** What the bench runs: no-op, five recorded steps, and a recorded step before one that a kill interrupts. */
export const workflows = [
  defineWorkflow({ id: "noop", version: "1", nodes: chain([step(1)]) }),
  defineWorkflow({ id: "five", version: "1", nodes: chain([1, 2, 3, 4, 5].map((number) => step(number))) }),
  defineWorkflow({ id: "slow", version: "1", nodes: chain([step(1, () => 1), step(2, (ctx) => ctx.run.input.ms)]) }),
];
