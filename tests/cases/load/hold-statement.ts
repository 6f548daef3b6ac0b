import type { Proxy, ProxyRule } from "@mainstay/testing";

/**
 * A rule that makes its proxy late from the moment on at which a client sends one of these statements (`noun.verb`): the
 * client has read and decided, and what it does about it arrives `lateMs` later. It does so once.
 */
export function holdStatement(proxy: Pick<Proxy, "delay">, { names, lateMs }: { names: readonly string[]; lateMs: number }): { rule: ProxyRule; held: () => string | undefined } {
  let held: string | undefined;
  const rule: ProxyRule = () => ({
    toServer(chunk) {
      const found = held === undefined ? names.find((name) => chunk.includes(name)) : undefined; // prepared or not, it bears its name
      if (found === undefined) return;
      held = found;
      proxy.delay(lateMs);
    },
    toClient: () => "forward",
  });
  return { rule, held: () => held };
}
