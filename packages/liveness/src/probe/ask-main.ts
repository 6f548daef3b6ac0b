import type { FromThread, ProbeAnswer, ProbePath } from "../thread/messages.js";

export type AskMain = {
  ask: (path: ProbePath) => Promise<ProbeAnswer>;
  /** Main's answer to a question asked before; one that comes too late is dropped. */
  answered: (id: number, answer: ProbeAnswer) => void;
};

const ANSWER_WITHIN_MS = 1_000;

/** Questions to main over the message port; one without an answer within a second rejects. */
export function createAskMain(post: (message: FromThread) => void): AskMain {
  const open = new Map<number, (answer: ProbeAnswer) => void>();
  let last = 0;
  return {
    ask: (path) => new Promise((resolve, reject) => {
      const id = (last += 1);
      const timer = setTimeout(() => {
        open.delete(id);
        reject(new Error(`the main loop gave no answer within ${ANSWER_WITHIN_MS} ms; it is busy or wedged`));
      }, ANSWER_WITHIN_MS);
      open.set(id, (answer) => {
        clearTimeout(timer);
        open.delete(id);
        resolve(answer);
      });
      post({ kind: "ask", id, path });
    }),
    answered: (id, answer) => open.get(id)?.(answer),
  };
}
