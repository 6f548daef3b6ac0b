import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { SupervisorConfig } from "@mainstay/config";
import type { ReleaseLimits } from "@mainstay/database";
import { beginLiveness, type Liveness } from "@mainstay/liveness";
import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";

export type KeepOptions = Readonly<{
  /** The first incarnation's id. */
  bornAs: string;
  config: SupervisorConfig;
  limits: ReleaseLimits;
  logger: Logger;
  metrics: Metrics;
  /** No new incarnation could begin: the process cannot go on. */
  onEnd: () => void;
}>;

export type KeptIncarnation = Readonly<{
  id: () => string;
  port: () => number | undefined;
  attest: () => void;
  drain: () => Promise<void>;
  retire: () => Promise<void>;
}>;

/** The supervisor's life: one incarnation after the other. Its lanes are leases of the incarnation and go with it. */
export async function keepIncarnation({ bornAs, config, limits, logger, metrics, onEnd }: KeepOptions): Promise<KeptIncarnation> {
  const state = { ending: false };
  const begin = (incarnation: string, port: number): Promise<Liveness> => beginLiveness({
    incarnation, role: "supervisor", host: hostname(), version: config.commit, config, limits, attests: "audit",
    probe: { host: config.host, port }, logger, metrics,
    onLost: () => { void beginAnew(); },
    readiness: () => ({ ready: true }),
    metricsText: () => metrics.text(),
  });
  const beginAnew = async (): Promise<void> => {
    try {
      const port = living.port ?? config.port;
      await living.retire(0);
      if (!state.ending) living = await begin(randomUUID(), port);
    } catch (error) {
      logger.error(logEvents.processCrashed, { err: error instanceof Error ? error : new Error(String(error)) });
      onEnd();
    }
  };
  let living = await begin(bornAs, config.port);
  return Object.freeze({
    id: () => living.incarnation,
    port: () => living.port,
    attest: () => living.attest(),
    drain: () => {
      state.ending = true;
      return living.drain();
    },
    retire: () => living.retire(),
  });
}
