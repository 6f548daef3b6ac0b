import { randomUUID } from "node:crypto";
import type { RelayConfig } from "@mainstay/config";
import { beginLiveness, type Liveness } from "@mainstay/liveness";
import { logEvents, type Logger, type Metrics } from "@mainstay/telemetry";

/** Who the relay is, and what it is told. */
export type KeepOptions = Readonly<{
  /** The first incarnation's id. */
  bornAs: string;
  config: RelayConfig;
  host: string;
  logger: Logger;
  metrics: Metrics;
  /** Outbox rows may be due. */
  onWake: () => void;
  /** What works less well while the relay is ready. */
  degraded: () => readonly string[];
  /** This process can live on under no incarnation. */
  onEnd: () => void;
}>;

/** The relay's life: one incarnation after the other. */
export type KeptIncarnation = Readonly<{
  /** Where health and metrics are served; the same for every incarnation. */
  port(): number | undefined;
  drain(): Promise<void>;
  retire(): Promise<void>;
}>;

/**
 * Begins an incarnation, and another one when it lapses. A relay holds no run,
 * so a lapse costs it nothing: rows that it took are taken again once stale.
 */
export async function keepIncarnation({ bornAs, config, host, logger, metrics, onWake, degraded, onEnd }: KeepOptions): Promise<KeptIncarnation> {
  const limits = {
    crashLimit: config.crashLimit, lossLimit: config.lossLimit, handbackLimit: config.handBackLimit,
    backoffBaseMs: config.policy.retryBaseMs, retentionDays: config.retentionDays,
  };
  const state = { ending: false };

  const begin = (incarnation: string, port: number): Promise<Liveness> => beginLiveness({
    incarnation, role: "relay", host, version: config.commit, config, limits, attests: "loop",
    probe: { host: config.host, port }, logger, metrics,
    onLost: () => { void beginAnew(); },
    onHint: onWake,
    readiness: () => ({ ready: true, reasons: degraded() }),
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
    port: () => living.port,
    drain: () => {
      state.ending = true;
      return living.drain();
    },
    retire: () => living.retire(),
  });
}
