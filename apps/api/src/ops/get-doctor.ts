import { recoveryBounds } from "@mainstay/config";
import { DoctorResponse, ErrorEnvelope, type DoctorCheck } from "@mainstay/contract";
import { readInstances, readServer, type InstanceRow, type ServerRow } from "@mainstay/database";
import type { App } from "../server/app.js";
import type { ApiParts } from "../server/parts.js";

/** `GET /ops/v1/doctor`: what this api sees of database, schema, clocks, roles, broker policy and settings. */
export function addDoctor(app: App, parts: ApiParts): void {
  app.get("/ops/v1/doctor", {
    config: { scope: "ops:read" },
    schema: {
      operationId: "getDoctor",
      summary: "Examines the fleet",
      tags: ["operations"],
      response: { 200: DoctorResponse, 401: ErrorEnvelope, 403: ErrorEnvelope, 503: ErrorEnvelope },
    },
  }, async () => {
    const asked = Date.now();
    const server = await readServer(parts.database);
    const answered = Date.now();
    const checks = [
      database(server),
      commits(server),
      schema(server),
      clock(server, { asked, answered }),
      ...roles(await readInstances(parts.database)),
      broker(parts),
      bounds(parts),
    ];
    return { ok: checks.every((check) => check.state !== "failed"), checks };
  });
}

function database({ version }: ServerRow): DoctorCheck {
  const major = Number.parseInt(version, 10);
  if (major >= 15 && major <= 18) return { name: "database", state: "ok", seen: `Postgres ${version}` };
  return { name: "database", state: "warning", seen: `Postgres ${version}`, next: "use a server from 15 to 18, the range the fleet is tested on" };
}

function commits({ synchronousCommit, synchronousStandbys }: ServerRow): DoctorCheck {
  const seen = `synchronous_commit ${synchronousCommit}, standbys ${synchronousStandbys === "" ? "none" : synchronousStandbys}`;
  if (synchronousCommit === "off") {
    return { name: "acknowledged commits", state: "failed", seen, next: "set synchronous_commit to on: an accepted run may be lost in a crash of the server" };
  }
  return { name: "acknowledged commits", state: "ok", seen };
}

function schema({ migrations, lastMigration, unfinishedMigrations }: ServerRow): DoctorCheck {
  const seen = `${String(migrations)} migrations, the last ${lastMigration ?? "none"}`;
  if (unfinishedMigrations > 0) {
    return { name: "schema", state: "failed", seen: `${seen}, ${String(unfinishedMigrations)} unfinished`, next: "run: mainstay migrate" };
  }
  return { name: "schema", state: "ok", seen };
}

function clock({ now }: ServerRow, { asked, answered }: { asked: number; answered: number }): DoctorCheck {
  const off = Math.max(asked - now.getTime(), now.getTime() - answered, 0);
  const seen = `this api's clock is ${off === 0 ? "within the round trip" : `${String(off)} ms`} of the database's`;
  if (off <= 1_000) return { name: "clock", state: "ok", seen };
  return { name: "clock", state: "warning", seen, next: "synchronise the clocks: nothing is decided by ours, but log lines and signatures bear it" };
}

function roles(instances: readonly InstanceRow[]): DoctorCheck[] {
  return (["api", "relay", "worker", "supervisor"] as const).map((role) => {
    const live = instances.filter((one) => one.role === role && one.state === "live").length;
    const seen = `${String(live)} live`;
    if (live > 0) return { name: role, state: "ok" as const, seen };
    return { name: role, state: "failed" as const, seen, next: `start one: the role is ${role}` };
  });
}

function broker({ config }: ApiParts): DoctorCheck {
  if (config.broker === "redis") return { name: "broker", state: "ok", seen: "tickets by Redis" };
  return { name: "broker", state: "warning", seen: "none: workers find runs by sweeping Postgres", next: "set REDIS_URL and MAINSTAY_BROKER=redis for shorter waits" };
}

function bounds({ config }: ApiParts): DoctorCheck {
  const seen = recoveryBounds(config).map((one) => `${one.class} ${String(one.bound)} ms`).join(", ");
  return { name: "recovery bounds", state: "ok", seen };
}
