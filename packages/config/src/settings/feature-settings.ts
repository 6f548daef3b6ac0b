import { kinds } from "./kinds.js";

/** Switches, keys and files. */
export const featureSettings = {
  deathWatch: kinds.onOff(
    { name: "MAINSTAY_DEATH_WATCH", about: "Whether incarnations watch each other’s lifelines, so that a killed one is noticed at once (class `severed`)." }, true,
  ),
  signingKey: kinds.text(
    { name: "MAINSTAY_SIGNING_KEY", about: "Ed25519 private key, PEM. HMAC keys are derived from it by HKDF. `mainstay dev` makes one." },
    { pattern: /^-----BEGIN PRIVATE KEY-----[\s\S]+-----END PRIVATE KEY-----\s*$/, expected: "an Ed25519 private key in PEM (PKCS #8)", secret: true },
  ),
  canary: kinds.onOff({ name: "MAINSTAY_CANARY", about: "Whether the supervisor submits a run of its own every minute to time each stage." }, false),
  policyFile: kinds.text({ name: "MAINSTAY_POLICY_FILE", about: "Path of `policy.yaml`." }, { expected: "a path" }),
  workflows: kinds.text({ name: "MAINSTAY_WORKFLOWS", about: "Path of an ES module that exports `workflows`." }, { expected: "a path" }),
  seams: kinds.onOff({ name: "MAINSTAY_SEAMS", about: "Whether the test seams answer. Refused in production." }, false),
  protocolV1: kinds.onOff({ name: "MAINSTAY_PROTOCOL_V1", about: "Whether major 1 of the protocol is served beside major 2." }, false),
  tracing: kinds.choice(
    { name: "MAINSTAY_TRACING", about: "Where spans go. `otlp`: to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT` (OpenTelemetry’s own `OTEL_*` variables hold for exporter and sampler). `off` loads nothing." },
    ["off", "otlp"], "off",
  ),
  traceRelation: kinds.choice(
    { name: "MAINSTAY_TRACE_RELATION", about: "How a claim’s span belongs to the run’s acceptance: a trace of its own with a `link`, or a child (`parent`) in the caller’s trace." },
    ["link", "parent"], "link",
  ),
  egressAllow: kinds.ranges(
    { name: "MAINSTAY_EGRESS_ALLOW", about: "Private ranges that requests to the outside may reach; into them plain http and any port are allowed too. Recorded in evidence." },
  ),
} as const;
