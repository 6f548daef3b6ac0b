/** The protocol versions this host serves at its bare paths. */
export const protocolVersions: readonly string[] = ["2.0"];

/** The version that answers without an `OpenWOP-Version` header, and the value of that header on every answer. */
export const preferredVersion = "2.0";

/** Raised when the engine's behaviour changes under the same log schema. */
export const engineVersion = 1;

/** One constant on every run, however it was created. */
export const eventLogSchemaVersion = 3;

/** Official fixtures that this host runs; unadvertised means inapplicable. */
export const officialFixtures: readonly string[] = [
  "conformance-noop",
  "conformance-failure",
  "conformance-delay",
  "conformance-cancellable",
  "conformance-multi-node",
  "conformance-identity",
  "conformance-idempotent",
];

/** The longest a run may take, in milliseconds: a day. A run's own `runTimeoutMs` only shortens it. */
export const maxRunDurationMs = 86_400_000;

/** The most nodes a workflow document may have. */
export const maxNodeExecutions = 10_000;

/** The issuer of API keys in `owner.subject` and in discovery. */
export const apiKeyIssuer = "urn:mainstay:api-key";
