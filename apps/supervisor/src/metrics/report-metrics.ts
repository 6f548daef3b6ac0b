import { recoveryBounds, type SupervisorConfig } from "@mainstay/config";
import { readServer, type Database } from "@mainstay/database";
import { recoveryClasses } from "@mainstay/domain";
import type { Metrics } from "@mainstay/telemetry";

/** What the gauges are read from. */
export type ReportParts = Readonly<{ metrics: Metrics; db: Database; config: SupervisorConfig }>;

/** Sets the supervisor's gauges right before each scrape. */
export function reportMetrics({ metrics, db, config }: ReportParts): void {
  for (const { class: name, bound } of recoveryBounds(config)) {
    metrics.recoveryBound.set({ class: name, trigger: recoveryClasses[name].trigger }, bound / 1_000);
  }
  metrics.beforeScrape(() => {
    const { size, inUse, waiting } = db.pool();
    metrics.dbPoolSize.set(size);
    metrics.dbPoolInUse.set(inUse);
    metrics.dbPoolWaiting.set(waiting);
  });
  let told = false;
  metrics.beforeScrape(async () => {
    if (told) return;
    const { lastMigration } = await readServer(db);
    metrics.buildInfo.set({ version: config.version, commit: config.commit, schema_version: lastMigration ?? "none" }, 1);
    told = true;
  });
}
