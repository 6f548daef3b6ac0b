import type { ProxyRule } from "./start-proxy.js";

/** Cuts a connection before the reply that carries the server's `bytes`-th byte is passed on. */
export function cutAfterBytes(bytes: number): ProxyRule {
  return () => {
    let seen = 0;
    return {
      toServer: () => undefined,
      toClient(chunk) {
        seen += chunk.length;
        return seen >= bytes ? "cut" : "forward";
      },
    };
  };
}

/** Cuts a connection instead of passing on the reply in which `text` stands. A text split over two replies is not seen. */
export function cutAtText(text: string): ProxyRule {
  return () => ({
    toServer: () => undefined,
    toClient: (chunk) => (chunk.includes(text) ? "cut" : "forward"),
  });
}
