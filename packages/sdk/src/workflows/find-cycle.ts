/**
 * Kahn over `after`: peels nodes that wait for nobody, and walks what is left. Each node and each dependency is looked
 * at once. Dependencies that name no node are not followed.
 *
 * @returns the path of one cycle, its first node again at the end, or `undefined` when there is none.
 */
export function findCycle(after: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const waiting = new Map([...after].map(([id, before]) => [id, new Set(before.filter((one) => after.has(one)))]));
  const followers = new Map<string, string[]>();
  for (const [id, before] of waiting) {
    for (const one of before) {
      const known = followers.get(one);
      if (known === undefined) followers.set(one, [id]);
      else known.push(id);
    }
  }
  const free = [...waiting].filter(([, before]) => before.size === 0).map(([id]) => id);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waiting.delete(id);
    for (const follower of followers.get(id) ?? []) {
      const before = waiting.get(follower);
      before?.delete(id);
      if (before?.size === 0) free.push(follower);
    }
  }
  const start = waiting.keys().next().value;
  if (start === undefined) return undefined;
  const path = new Set<string>();
  let at = start;
  // Everything left waits for something left, so this walk must meet itself.
  while (!path.has(at)) {
    path.add(at);
    at = waiting.get(at)?.values().next().value ?? at;
  }
  const walked = [...path];
  return [...walked.slice(walked.indexOf(at)), at];
}
