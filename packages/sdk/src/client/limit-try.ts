/** Aborts after `ms` or with the outer signal. `pause` stops the time, `restart` begins it anew; `release` lets go of both. */
export function limitTry(
  ms: number,
  outer: AbortSignal | undefined,
): { signal: AbortSignal; pause: () => void; restart: () => void; release: () => void } {
  const ended = new AbortController();
  const late = (): void => { ended.abort(new DOMException(`no answer within ${String(ms)} ms`, "TimeoutError")); };
  const follow = (): void => { ended.abort(outer?.reason); };
  let timer = setTimeout(late, ms);
  if (outer?.aborted === true) follow();
  else outer?.addEventListener("abort", follow, { once: true });
  return {
    signal: ended.signal,
    pause: () => { clearTimeout(timer); },
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
