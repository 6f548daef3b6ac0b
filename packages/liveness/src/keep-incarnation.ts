import { randomUUID } from "node:crypto";
import { logEvents } from "@mainstay/telemetry";
import { beginLiveness, type Liveness, type LivenessOptions } from "./begin-liveness.js";

/** What every incarnation of the process is begun with. */
export type KeepOptions = Omit<LivenessOptions, "onLost" | "incarnation"> & {
  /** The first incarnation's id. */
  bornAs: string;
  /** One is over and its holdings belong to others: drop them. Called before the next one begins. */
  onLost?: () => void;
  /** No further incarnation could begin: the process must end. */
  onEnd: () => void;
};

/** A process's life: one incarnation after the other, on one probe port. */
export type KeptIncarnation = {
  /** The one in force; `validUntil` is 0 between two of them. */
  current: () => Liveness;
  /** Where health and metrics are served, the same for every incarnation; undefined without probes. */
  port: () => number | undefined;
  /** The database says that this incarnation is over: the next one begins. Calls for an earlier one change nothing. */
  renew: (over: Liveness) => void;
  drain: () => Promise<void>;
  retire: () => Promise<void>;
};

/** Begins an incarnation, and another one whenever it lapses, until the process drains. Rejects as `beginLiveness` does. */
export async function keepIncarnation({ bornAs, onLost, onEnd, ...options }: KeepOptions): Promise<KeptIncarnation> {
  const state: { ending: boolean; living?: Liveness; renewing: boolean } = { ending: false, renewing: false };

  const begin = async (incarnation: string, port: number | undefined): Promise<Liveness> => {
    const probe = options.probe === undefined || port === undefined ? options.probe : { host: options.probe.host, port };
    return beginLiveness({ ...options, incarnation, ...(probe === undefined ? {} : { probe }), onLost: () => { renew(state.living); } });
  };
  const renew = (over: Liveness | undefined): void => {
    if (over === undefined || over !== state.living || state.renewing || state.ending) return;
    state.renewing = true;
    onLost?.();
    void beginAnew(over).catch((error: unknown) => {
      options.logger.error(logEvents.processCrashed, { err: error instanceof Error ? error : new Error(String(error)) });
      onEnd();
    }).finally(() => { state.renewing = false; });
  };
  const beginAnew = async (over: Liveness): Promise<void> => {
    await over.retire(0);
    if (!state.ending) state.living = await begin(randomUUID(), over.port);
  };

  const first = await begin(bornAs, options.probe?.port);
  state.living = first;
  const current = (): Liveness => state.living ?? first;
  return {
    current,
    port: () => current().port,
    renew,
    drain: () => {
      state.ending = true;
      return current().drain();
    },
    retire: () => current().retire(),
  };
}
