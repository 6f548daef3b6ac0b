import { AsyncLocalStorage } from "node:async_hooks";

/** One modelled process of the fleet, or its heartbeat thread: code that lives, stands still and dies on its own. */
export type SimProcess = {
  readonly name: string;
  /** A thread dies and freezes with its process. */
  readonly parent: SimProcess | undefined;
  dead: boolean;
  frozen: boolean;
  /** What came while it stood still. */
  inbox: (() => void)[];
};

const running = new AsyncLocalStorage<SimProcess>();

/** A process that has just started. */
export const startProcess = (name: string, parent?: SimProcess): SimProcess => ({ name, parent, dead: false, frozen: false, inbox: [] });

/** The process whose code runs now; undefined: the simulation's own. */
export const currentProcess = (): SimProcess | undefined => running.getStore();

export const isDead = (process: SimProcess): boolean => process.dead || (process.parent !== undefined && isDead(process.parent));

/** Gives `act` to a process: at once, when it goes on again, or never. */
export function deliver(process: SimProcess | undefined, act: () => void): void {
  if (process === undefined) act();
  else if (isDead(process)) return;
  else if (process.frozen) process.inbox.push(act);
  else running.run(process, act);
}

/** It stood still and goes on: what came meanwhile comes now, in its order. */
export function thaw(process: SimProcess): void {
  process.frozen = false;
  const waiting = process.inbox;
  process.inbox = [];
  for (const act of waiting) deliver(process, act);
}
