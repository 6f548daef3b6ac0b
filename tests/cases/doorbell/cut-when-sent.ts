import type { ProxyRule } from "@mainstay/testing";

/** Cuts a connection as soon as the server answers after `text` was sent to it. */
export function cutWhenSent(text: string): ProxyRule {
  return () => {
    let sent = false;
    return {
      toServer: (chunk) => { sent ||= chunk.includes(text); },
      toClient: () => (sent ? "cut" : "forward"),
    };
  };
}
