import type { TicketPublisher } from "@mainstay/broker";
import type { RelayConfig } from "@mainstay/config";
import { readServer, type Database } from "@mainstay/database";
import type { Metrics } from "@mainstay/telemetry";

/** What the gauges are read from. */
export type ReportParts = Readonly<{
  metrics: Metrics;
  db: Database;
  publisher: TicketPublisher | undefined;
  config: Pick<RelayConfig, "version" | "commit">;
}>;

/** Sets the relay's gauges right before each scrape: pool, broker, and once known the build with its schema. */
export function reportMetrics({ metrics, db, publisher, config: { version, commit } }: ReportParts): void {
  metrics.beforeScrape(() => {
    const { size, inUse, waiting } = db.pool();
    metrics.dbPoolSize.set(size);
    metrics.dbPoolInUse.set(inUse);
    metrics.dbPoolWaiting.set(waiting);
    metrics.brokerUp.set(publisher?.brokerUp() === true ? 1 : 0);
  });
  let told = false;
  metrics.beforeScrape(async () => {
    if (told) return;
    const { lastMigration } = await readServer(db);
    metrics.buildInfo.set({ version, commit, schema_version: lastMigration ?? "none" }, 1);
    told = true;
  });
}
