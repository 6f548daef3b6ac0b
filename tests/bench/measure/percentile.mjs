/** The value that a share of the values does not exceed, such as 0.99; undefined without values. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? undefined : sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** The middle of the values that are there; the lower one of two. */
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  return sorted.length === 0 ? undefined : sorted[(sorted.length - 1) >> 1];
}
