/** What a room may import. `types`: rooms of which only types may be taken. */
export type Rule = {
  readonly rooms: readonly string[];
  readonly types?: readonly string[];
  /** Packages from outside; `declared` leaves them to the room's own dependency list. */
  readonly outside: readonly string[] | "declared";
};

/** Who may import whom. A room that is not named here fails the test: decide, then write it down. */
export const rules: Readonly<Record<string, Rule>> = {
  domain: { rooms: [], outside: [] },
  contract: { rooms: [], types: ["domain"], outside: ["zod"] },
  config: { rooms: [], types: ["domain"], outside: ["zod", "yaml"] },
  telemetry: { rooms: [], types: ["domain"], outside: "declared" },
  database: { rooms: ["domain"], outside: ["pg", "uuid", "@prisma/client", "@prisma/adapter-pg"] },
  broker: { rooms: ["domain"], outside: ["bullmq", "ioredis"] },
  egress: { rooms: [], outside: ["undici", "ipaddr.js"] },
  sdk: { rooms: ["contract"], types: ["domain"], outside: "declared" },
  liveness: { rooms: ["domain", "database", "telemetry"], outside: [] },
  fleet: { rooms: [], outside: [] },
  testing: { rooms: ["domain", "database", "broker", "fleet"], outside: ["pg", "ioredis"] },
  api: { rooms: ["domain", "contract", "database", "config", "telemetry", "liveness"], outside: "declared" },
  relay: { rooms: ["domain", "database", "broker", "config", "telemetry", "liveness", "egress"], outside: [] },
  worker: {
    rooms: ["domain", "database", "broker", "sdk", "config", "telemetry", "liveness", "egress"],
    outside: "declared",
  },
  supervisor: { rooms: ["domain", "database", "config", "telemetry", "liveness", "egress"], outside: "declared" },
  cli: { rooms: ["domain", "contract", "sdk", "config", "qualify", "fleet", "database"], outside: "declared" },
};

/** Packages from outside that only these rooms may know, whatever the others declare. */
export const reserved: Readonly<Record<string, readonly string[]>> = {
  bullmq: ["broker"],
  ioredis: ["broker", "testing"],
  pg: ["database", "testing"],
  undici: ["egress"],
  fastify: ["api"],
  "@opentelemetry/api": ["telemetry"],
  "@opentelemetry/sdk-trace-node": ["telemetry"],
};
