import type { MessagePort } from "node:worker_threads";
import { runThread } from "../../../packages/liveness/src/thread/run-thread.js";
import type { ThreadOrders } from "../../../packages/liveness/src/thread/messages.js";
import { currentProcess, deliver, startProcess } from "../world/process.js";
import { theWorld } from "../world/world.js";

type Listener = (message: unknown) => void;

/** In the place of Node's: the heartbeat thread is code of its own beside its process, and really dies when it is ended. */
export class Worker {
  readonly #mine = new Map<string, Listener[]>();
  readonly #theirs: Listener[] = [];
  readonly #thread;
  readonly #owner = currentProcess();

  constructor(_url: URL, { workerData, name }: { workerData: unknown; name: string; execArgv: string[] }) {
    if (this.#owner === undefined) throw new Error("a thread belongs to a process");
    this.#thread = startProcess(`${this.#owner.name} ${name}`, this.#owner);
    const { time } = theWorld();
    const port = {
      postMessage: (message: unknown) => {
        time.after(0, () => { deliver(this.#owner, () => { this.#tell("message", message); }); });
      },
      on: (_event: string, listener: Listener) => { this.#theirs.push(listener); },
    };
    deliver(this.#thread, () => {
      runThread(port as unknown as MessagePort, workerData as ThreadOrders).catch((error: unknown) => {
        deliver(this.#owner, () => { this.#tell("error", error); });
      });
    });
  }

  #tell(event: string, message: unknown): void {
    for (const listener of this.#mine.get(event) ?? []) listener(message);
  }

  on(event: string, listener: Listener): this {
    this.#mine.set(event, [...(this.#mine.get(event) ?? []), listener]);
    return this;
  }

  postMessage(message: unknown): void {
    theWorld().time.after(0, () => { deliver(this.#thread, () => { for (const listener of this.#theirs) listener(message); }); });
  }

  async terminate(): Promise<number> {
    this.#thread.dead = true;
    theWorld().endSessionsOf(this.#thread, "its thread has ended");
    return 0;
  }
}

export const parentPort = null;
export const workerData = undefined;
