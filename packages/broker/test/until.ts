/** Resolves as soon as `probe` answers true; rejects, naming what was waited for, after `withinMs`. */
export async function until(what: string, probe: () => boolean | Promise<boolean>, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await probe())) {
    if (performance.now() > end) throw new Error(`expected within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
