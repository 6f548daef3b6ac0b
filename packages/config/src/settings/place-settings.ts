import { kinds } from "./kinds.js";

/** Where a process runs, what it speaks to and how it is found. */
export const placeSettings = {
  env: kinds.choice(
    { name: "MAINSTAY_ENV", about: "Production refuses test seams, demo secrets, and a brokerless fleet that nobody asked for by name." },
    ["development", "production"], "development",
  ),
  databaseUrl: kinds.secretUrl(
    { name: "DATABASE_URL", about: "Postgres, the truth. Required by every process; the login is a member of both database roles." },
    ["postgres:", "postgresql:"],
  ),
  databaseDirectUrl: kinds.secretUrl(
    { name: "DATABASE_DIRECT_URL", about: "Postgres without a pooler between, for what needs a session: lifeline, LISTEN, migrations." },
    ["postgres:", "postgresql:"], "DATABASE_URL",
  ),
  databasePooler: kinds.choice(
    { name: "MAINSTAY_DATABASE_POOLER", about: "What `DATABASE_URL` leads through. `transaction`: a pooler that may give every transaction another session (PgBouncer, pool_mode = transaction); then statements are not prepared by name, the login must bear the session settings itself (start-up says which), and `DATABASE_DIRECT_URL` must lead past the pooler." },
    ["none", "transaction"], "none",
  ),
  broker: kinds.choice(
    { name: "MAINSTAY_BROKER", about: "`redis`: tickets by BullMQ. `none`: the workers find their runs by sweeping Postgres; slower, nothing lost. Never switched in silence." },
    ["redis", "none"], "redis",
  ),
  redisUrl: kinds.text(
    { name: "REDIS_URL", about: "Redis or Valkey, the doorbell: one server, any node of a Redis Cluster, or Sentinels. Required by relay and worker unless the broker is `none`." },
    {
      secret: true, pattern: /^(rediss?:\/\/([^@/\s]*@)?(\[[0-9a-fA-F:.]+\]|[^/@,:\s[\]]+)(:\d{1,5})?(\/\d*)?(\?\S*)?|redis\+sentinel:\/\/([^@/\s]*@)?[^/@\s]+\/[^/?\s]+(\/\d+)?(\?\S*)?)$/,
      expected: "a URL that starts with redis:// or rediss://, or redis+sentinel://host:port,host:port/<name of the primary>",
    },
  ),
  brokerPrefix: kinds.text(
    { name: "MAINSTAY_BROKER_PREFIX", about: "Prefix of every key in Redis. The braces keep all keys of a queue in one slot of a cluster." },
    { shownDefault: "{mainstay}", pattern: /^\{[A-Za-z0-9._-]{1,64}\}$/, expected: "a name of letters, digits, dot, dash and underscore in braces" },
  ),
  host: kinds.text(
    { name: "MAINSTAY_HOST", about: "The address a process listens on." },
    { shownDefault: "127.0.0.1 in development, 0.0.0.0 in production", pattern: /^[A-Za-z0-9.:_-]{1,255}$/, expected: "an address or host name" },
  ),
  port: kinds.port(
    { name: "MAINSTAY_PORT", about: "The port of health and metrics; on the api of everything." },
  ),
  pool: kinds.text(
    { name: "MAINSTAY_POOL", about: "The worker pool: which tickets a worker takes, and which runs it may claim." },
    { shownDefault: "default", pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/, expected: "1 to 63 lower-case letters, digits, dots, dashes and underscores" },
  ),
  logLevel: kinds.choice(
    { name: "MAINSTAY_LOG_LEVEL", about: "The least severe event that is logged." },
    ["debug", "info", "warn", "error"], "info",
  ),
  commit: kinds.text(
    { name: "MAINSTAY_COMMIT", about: "The commit the process was built from, shown in `mainstay_build_info` and in evidence." },
    { shownDefault: "unknown", pattern: /^[A-Za-z0-9._-]{1,64}$/, expected: "a commit or build name of at most 64 characters" },
  ),
  apiUrl: kinds.text(
    { name: "MAINSTAY_URL", about: "Where the command line finds the api." },
    { shownDefault: "http://127.0.0.1:8080", pattern: /^https?:\/\/[^\s/]+/, expected: "an http or https URL" },
  ),
  apiKey: kinds.text(
    { name: "MAINSTAY_KEY", about: "The API key the command line sends." },
    { pattern: /^mst_[A-Za-z0-9]+_[A-Za-z0-9_-]+$/, expected: "an API key that starts with mst_", secret: true },
  ),
} as const;
