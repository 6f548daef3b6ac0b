import { randomUUID } from "node:crypto";
import type { Arrival, Plan } from "@mainstay/testing";
import { until } from "@mainstay/testing";
import type { Stage } from "./start-stage.js";

/** One act on the receiver, named by its tag: what it meets there, and what became of it. */
export type Act = Readonly<{
  tag: string;
  /** Requests to act, in the order of their arrival. */
  arrivals: () => readonly Arrival[];
  /** Questions of a reconciler. */
  asks: () => readonly Arrival[];
  /** Waits until the first request is there. */
  onTheWire: () => Promise<void>;
}>;

/** Deals out acts; each has a plan of its own at the receiver. `said` is what a reconciler hears. */
export function createActs(stage: Stage): (plan?: (index: number) => Plan, said?: () => unknown) => Act {
  const plans = new Map<string, { plan: (index: number) => Plan; said: () => unknown; seen: number }>();
  stage.receiver.plan(({ path }) => {
    const asked = path.startsWith("/ask/");
    const known = plans.get(path.slice(asked ? 5 : 1));
    if (known === undefined) return {};
    if (asked) return { body: { said: known.said() } };
    known.seen += 1;
    return known.plan(known.seen - 1);
  });
  return (plan = () => ({}), said = () => undefined) => {
    const tag = randomUUID();
    plans.set(tag, { plan, said, seen: 0 });
    const arrivals = () => stage.receiver.ledger().filter(({ path }) => path === `/${tag}`);
    return {
      tag, arrivals,
      asks: () => stage.receiver.ledger().filter(({ path }) => path === `/ask/${tag}`),
      onTheWire: async () => { await until(`the request of ${tag}`, () => arrivals().length > 0); },
    };
  };
}
