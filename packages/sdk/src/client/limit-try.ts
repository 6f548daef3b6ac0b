/** Aborts after `ms` or with the outer signal. `restart` begins the time anew; `release` lets go of both. */
export function limitTry(
  ms: number,
  outer: AbortSignal | undefined,
): { signal: AbortSignal; restart: () => void; release: () => void } {
  const ended = new AbortController();
  const late = (): void => { ended.abort(new DOMException(`no answer within ${String(ms)} ms`, "TimeoutError")); };
  const follow = (): void => { ended.abort(outer?.reason); };
  let timer = setTimeout(late, ms);
  if (outer?.aborted === true) follow();
  else outer?.addEventListener("abort", follow, { once: true });
  return {
    signal: ended.signal,
    restart() {
      clearTimeout(timer);
      timer = setTimeout(late, ms);
    },
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", follow);
    },
  };
}
