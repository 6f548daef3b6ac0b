import { labelValues } from "./label-values.js";
import { counter, each, everywhere, gauge, histogram } from "./metric.js";

/** Broker, HTTP, database and the process itself. */
export const processMetrics = {
  outboxPending: gauge({
    name: "mainstay_outbox_pending", help: "Outbox rows that wait to be published.", labels: ["topic"], from: ["supervisor"], known: each("topic", labelValues.topic),
  }),
  outboxOldest: gauge({
    name: "mainstay_outbox_oldest_timestamp_seconds", help: "When the oldest such row became due; 0 when there is none.", labels: ["topic"], from: ["supervisor"],
    known: each("topic", labelValues.topic),
  }),
  outboxPublished: counter({
    name: "mainstay_outbox_published_total", help: "Outbox rows published.", labels: ["topic"], from: ["relay"], known: each("topic", labelValues.topic),
  }),
  outboxPublishFailures: counter({
    name: "mainstay_outbox_publish_failures_total", help: "Publications that the broker refused.", labels: ["topic"], from: ["relay"],
    known: each("topic", labelValues.topic),
  }),
  outboxPublishLag: histogram({
    name: "mainstay_outbox_publish_lag_seconds", help: "From due to published.", labels: ["topic"], from: ["relay"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 2, 10, 60], known: each("topic", labelValues.topic),
  }),
  brokerErrors: counter({
    name: "mainstay_broker_errors_total", help: "Failures of the broker, its refusals of writes among them.", labels: ["reason"], from: ["relay", "worker"],
    known: each("reason", labelValues.brokerFault),
  }),
  brokerUp: gauge({
    name: "mainstay_broker_up", help: "1 while the broker answers; 0 while it is away or none is used.", labels: [], from: ["relay", "worker"],
  }),
  messageLockLost: counter({
    name: "mainstay_message_lock_lost_total", help: "Tickets whose lock in the broker was lost; they ring again.", labels: ["pool"], from: ["worker"],
  }),
  httpRequestDuration: histogram({
    name: "mainstay_http_request_duration_seconds", help: "From the request line to the last byte of the answer; streams to their first byte.",
    labels: ["route", "method", "code_class"], from: ["api"], buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  }),
  sseConnections: gauge({
    name: "mainstay_sse_connections", help: "Open event streams.", labels: [], from: ["api"],
  }),
  idempotentReplays: counter({
    name: "mainstay_idempotent_replays_total", help: "Requests answered from an idempotency record.", labels: [], from: ["api"],
  }),
  dbPoolInUse: gauge({
    name: "mainstay_db_pool_in_use", help: "Connections of the working pool that carry a statement.", labels: [], from: everywhere,
  }),
  dbPoolWaiting: gauge({
    name: "mainstay_db_pool_waiting", help: "Statements that wait for a connection.", labels: [], from: everywhere,
  }),
  dbPoolSize: gauge({
    name: "mainstay_db_pool_size", help: "Connections the working pool may open.", labels: [], from: everywhere,
  }),
  dbStatementDuration: histogram({
    name: "mainstay_db_statement_duration_seconds", help: "A named statement, from sent to answered.", labels: ["op"], from: everywhere,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2],
  }),
  dbSessions: gauge({
    name: "mainstay_db_sessions", help: "Sessions of the fleet in the database.", labels: ["role"], from: ["supervisor"],
  }),
  dbOldestSnapshot: gauge({
    name: "mainstay_db_oldest_snapshot_timestamp_seconds", help: "When the oldest snapshot that is still held was taken; 0 when there is none.",
    labels: [], from: ["supervisor"],
  }),
  buildInfo: gauge({
    name: "mainstay_build_info", help: "Always 1; what this process was built from and the schema it speaks.",
    labels: ["version", "commit", "schema_version"], from: everywhere,
  }),
  eventLoopLag: gauge({
    name: "mainstay_event_loop_lag_seconds", help: "How late the event loop came round, 99th percentile since the last scrape.", labels: [], from: everywhere,
  }),
} as const;
