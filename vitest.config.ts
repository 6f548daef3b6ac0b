import { defineConfig } from "vitest/config";

type Lane = {
  name: string;
  include: string[];
  /** For one test and for one hook, in milliseconds. */
  timeoutMs: number;
  /** Lanes that need Postgres and Redis get them found before their first file. */
  services: "none" | "found";
  /** `serial`: one file at a time, for lanes that load the machine or stop its clocks. */
  files: "parallel" | "serial";
};

function lane({ name, include, timeoutMs, services, files }: Lane) {
  return {
    test: {
      name,
      include,
      exclude: ["**/node_modules/**", "**/dist/**"],
      environment: "node",
      pool: "forks" as const,
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      fileParallelism: files === "parallel",
      allowOnly: false,
      ...(services === "found" ? { globalSetup: ["./infra/dev/testing/provide-services.mjs"] } : {}),
    },
  };
}

/** The lanes of `npm test` and its neighbours; `npx vitest run --project <name>` runs one by hand. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      lane({ name: "unit", include: ["{apps,packages}/*/src/**/*.test.ts", "infra/**/*.test.mjs", "tests/fuzz/*.test.mjs"], timeoutMs: 10_000, services: "none", files: "parallel" }),
      lane({ name: "integration", include: ["{apps,packages}/*/test/**/*.integration.test.ts"], timeoutMs: 60_000, services: "found", files: "parallel" }),
      lane({ name: "chaos", include: ["tests/chaos/**/*.chaos.test.ts"], timeoutMs: 120_000, services: "found", files: "serial" }),
      lane({ name: "cases", include: ["tests/cases/*.case.test.ts", "tests/cases/standing/*.integration.test.ts"], timeoutMs: 120_000, services: "found", files: "serial" }),
      lane({ name: "architecture", include: ["tests/architecture/**/*.test.ts"], timeoutMs: 60_000, services: "none", files: "serial" }),
      lane({ name: "tenancy", include: ["tests/tenancy/**/*.test.ts"], timeoutMs: 180_000, services: "found", files: "serial" }),
      lane({ name: "idle", include: ["tests/idle/**/*.test.ts"], timeoutMs: 180_000, services: "found", files: "serial" }),
    ],
  },
});
