/**
 * Kahn over `after`: peels nodes that wait for nobody, and walks what is left.
 * Dependencies that name no node are not followed.
 *
 * @returns the path of one cycle, its first node again at the end, or `undefined` when there is none.
 */
export function findCycle(after: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const waiting = new Map([...after].map(([id, before]) => [id, new Set(before.filter((one) => after.has(one)))]));
  let free = [...waiting].filter(([, before]) => before.size === 0).map(([id]) => id);
  while (free.length > 0) {
    const next: string[] = [];
    for (const id of free) waiting.delete(id);
    for (const [id, before] of waiting) {
      for (const freed of free) before.delete(freed);
      if (before.size === 0) next.push(id);
    }
    free = next;
  }
  const start = waiting.keys().next().value;
  if (start === undefined) return undefined;
  const path: string[] = [];
  let at = start;
  // Everything left waits for something left, so this walk must meet itself.
  while (!path.includes(at)) {
    path.push(at);
    at = waiting.get(at)?.values().next().value ?? at;
  }
  return [...path.slice(path.indexOf(at)), at];
}
