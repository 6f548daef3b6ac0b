/** A function that keeps the first `limit` distinct values as they are and answers `other` for every further one. */
export function boundLabel(limit: number): (value: string) => string {
  const kept = new Set<string>();
  return (value) => {
    if (kept.has(value)) return value;
    if (kept.size >= limit) return "other";
    kept.add(value);
    return value;
  };
}
