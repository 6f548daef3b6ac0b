/** What is submitted, by its share of a hundred, and how each of its runs must end. */
const mix = [
  { workflowId: "soak-quick", share: 58, ends: "completed" },
  { workflowId: "soak-five", share: 15, ends: "completed" },
  { workflowId: "soak-order", share: 15, ends: "completed" },
  { workflowId: "soak-timer", share: 6, ends: "completed" },
  { workflowId: "soak-flaky", share: 4, ends: "completed" },
  { workflowId: "soak-doomed", share: 2, ends: "failed" },
];

/** Picks by the seeded number; the inputs go with the workflow. */
export function pickRun(random, { number, url }) {
  let at = random() * 100;
  const { workflowId, ends } = mix.find(({ share }) => (at -= share) < 0) ?? mix[0];
  const inputs = {
    "soak-order": { url, businessKey: `order-${number}` },
    "soak-timer": { delayMs: 500 + Math.floor(random() * 9_500) },
  }[workflowId] ?? {};
  return { workflowId, ends, inputs };
}
