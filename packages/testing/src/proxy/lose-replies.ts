import type { Fate } from "./link.js";
import { readClientMessages, readServerMessages, textsOf } from "./read-messages.js";
import type { ProxyRule } from "./start-proxy.js";

/** Which replies get lost, and how many of them. */
export type LostReplies = Readonly<{
  /** Is asked with the statement's name (`noun.verb`) for each execution. */
  of: (statement: string) => boolean;
  /** No more than so many; default without end. */
  times?: number;
  /** Hears the name of each statement whose reply was lost. */
  onLost?: (statement: string) => void;
}>;

/**
 * Loses replies of Postgres: the statement has been executed and committed (the server said that it is ready for the
 * next one), then the connection is cut and the client never hears. The name of a statement is its prepared name, or
 * the comment at the start of its text.
 */
export function loseReplies({ of, times = Number.POSITIVE_INFINITY, onLost }: LostReplies): ProxyRule {
  let left = times;
  return () => {
    const client = readClientMessages();
    const server = readServerMessages();
    let unnamed = "";
    let waitingFor: string | undefined;
    return {
      toServer(chunk) {
        for (const { type, body } of client(chunk)) {
          if (type === "P") {
            const [name = "", text = ""] = textsOf(body, 2);
            if (name === "") unnamed = nameIn(text);
          } else if (type === "B") {
            const [, name = ""] = textsOf(body, 2);
            waitingFor = chosen(name === "" ? unnamed : name);
          } else if (type === "Q") {
            waitingFor = chosen(nameIn(textsOf(body, 1)[0] ?? ""));
          }
        }
      },
      toClient(chunk): Fate {
        const ready = server(chunk).some(({ type }) => type === "Z");
        if (waitingFor === undefined) return "forward";
        if (!ready) return "withhold";
        onLost?.(waitingFor);
        waitingFor = undefined;
        return "cut";
      },
      closed() {
        if (waitingFor !== undefined) left += 1; // it ended before the reply came
      },
    };
  };

  function chosen(statement: string): string | undefined {
    if (left <= 0 || !of(statement)) return undefined;
    left -= 1; // now, so that connections which are cut at the same time count each
    return statement;
  }
}

/** A statement without a name bears it in its text, behind the first word. */
function nameIn(text: string): string {
  return /^(?:\w+ )?\/\* ([a-z0-9_.]+) \*\//.exec(text)?.[1] ?? "";
}
