/** Version of OpenTelemetry's semantic conventions that these names are taken from; messaging is still moving there. */
export const conventionsVersion = "1.43.0";

/** Every attribute that a span of ours may bear. Ids stand on spans, never in span names and never on metrics. */
export const traceNames = {
  serviceName: "service.name",
  serviceVersion: "service.version",
  serviceInstanceId: "service.instance.id",
  httpRoute: "http.route",
  httpMethod: "http.request.method",
  httpStatus: "http.response.status_code",
  errorType: "error.type",
  messagingSystem: "messaging.system",
  messagingDestination: "messaging.destination.name",
  messagingOperation: "messaging.operation.name",
  messagingBatch: "messaging.batch.message_count",
  peerName: "mainstay.destination",
  runId: "openwop.run_id",
  workflowId: "openwop.workflow_id",
  nodeId: "openwop.node_id",
  nodeType: "openwop.node_type",
  nodeAttempt: "openwop.node_attempt",
  fence: "mainstay.fence",
  trigger: "mainstay.trigger",
  pool: "mainstay.pool",
  outcome: "mainstay.outcome",
  effectKey: "mainstay.effect_key",
  effectClass: "mainstay.effect_class",
  effectLaunch: "mainstay.effect_launch",
  /** Says what a link points at: `run` (its acceptance) or `lost_attempt` (the attempt that a dead holder began). */
  linkTo: "mainstay.link",
} as const;
