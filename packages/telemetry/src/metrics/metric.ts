/** Which processes report a metric. */
export type MetricRole = "api" | "relay" | "worker" | "supervisor";

/** Every process of the fleet. */
export const everywhere: readonly MetricRole[] = ["api", "relay", "worker", "supervisor"];

type Common<L extends string> = Readonly<{
  /** `mainstay_<noun>_<what>_<unit>`, base units; counters end in `_total`. */
  name: string;
  help: string;
  /** Label names; their values come from closed sets only. */
  labels: readonly L[];
  from: readonly MetricRole[];
  /** Label sets that are reported as 0 from the start. */
  known?: readonly Readonly<Record<L, string>>[];
}>;

/** One entry of the catalogue. */
export type Metric<L extends string = string> = Common<L> & (
  | Readonly<{ type: "counter" | "gauge" }>
  | Readonly<{ type: "histogram"; buckets: readonly number[] }>
);

/** A catalogue entry that only rises. */
export function counter<const L extends string = never>(entry: Common<L>): Common<L> & { readonly type: "counter" } {
  return { ...entry, type: "counter" };
}

/** A catalogue entry that shows a state; instants are Unix seconds, never ages. */
export function gauge<const L extends string = never>(entry: Common<L>): Common<L> & { readonly type: "gauge" } {
  return { ...entry, type: "gauge" };
}

/** A catalogue entry that shows a distribution, in seconds unless its name says otherwise. */
export function histogram<const L extends string = never>(
  entry: Common<L> & { readonly buckets: readonly number[] },
): Common<L> & { readonly type: "histogram"; readonly buckets: readonly number[] } {
  return { ...entry, type: "histogram" };
}

/** One label set per value. */
export function each<const L extends string>(label: L, values: readonly string[]): readonly Readonly<Record<L, string>>[] {
  return values.map((value) => ({ [label]: value }) as Record<L, string>);
}
