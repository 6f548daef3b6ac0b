import { metricsReference } from "@mainstay/telemetry";

/** `docs/reference/metrics.md`, from the catalogue that the processes register. */
export function generate() {
  return [{ path: "docs/reference/metrics.md", text: metricsReference() }];
}
