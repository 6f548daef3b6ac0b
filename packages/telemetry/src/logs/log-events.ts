/**
 * Every event a process of the fleet may log; the text is the `msg` of the
 * line. Constants only: what varies stands in the fields beside it.
 */
export const logEvents = {
  // The life of a process.
  processStarting: "process starting",
  processReady: "process ready",
  processStopping: "process stopping",
  processStopped: "process stopped",
  processCrashed: "process crashed",
  shutdownStepFailed: "shutdown step failed",
  shutdownStepTimedOut: "shutdown step timed out",
  egressOpened: "egress to private ranges is allowed",
  brokerless: "running without a broker",
  // Database and broker.
  databaseUnreachable: "database unreachable",
  databaseReachable: "database reachable again",
  brokerDown: "broker unreachable",
  brokerUp: "broker reachable again",
  brokerError: "broker error",
  ticketFailed: "ticket not taken to its runs",
  ticketRefused: "ticket refused",
  ticketLockLost: "ticket lock lost",
  publishFailed: "tickets not published",
  outboxRowIsolated: "outbox row isolated",
  // Liveness.
  incarnationRegistered: "incarnation registered",
  incarnationLapsed: "incarnation lapsed",
  incarnationSuspected: "incarnation suspected",
  incarnationCleared: "suspicion cleared",
  incarnationEnded: "incarnation ended",
  heartbeatFailed: "heartbeat failed",
  heartbeatRefused: "heartbeat refused, holdings dropped",
  heartbeatWithheld: "heartbeat withheld, work path not attested",
  lifelineLost: "lifeline lost",
  runsTakenOver: "runs taken over",
  runsHandedBack: "runs handed back",
  // Runs, nodes, effects.
  runAccepted: "run accepted",
  runClaimed: "run claimed",
  runEnded: "run ended",
  runDeadLettered: "run dead-lettered",
  holdingMislaid: "holding mislaid",
  claimUnservable: "claim cannot be served",
  fenced: "write refused by the fence",
  nodeFailed: "node failed",
  nodeTimedOut: "node timed out",
  nodeRetried: "node will be retried",
  nodeSaid: "node said",
  effectUnknown: "effect outcome unknown",
  effectContradicted: "effect evidence contradicts itself",
  reconciliationAsked: "reconciliation asked",
  batchFailed: "batch failed",
  workflowRegistered: "workflow registered",
  // Lanes.
  laneTicked: "lane ticked",
  laneFailed: "lane failed",
  laneTimedOut: "lane timed out",
  laneLost: "lane lost",
  laneItemFailed: "lane item failed",
  // HTTP.
  requestServed: "request served",
  requestFailed: "request failed",
  streamClosed: "stream closed",
} as const;

/** One of the catalogue's texts. */
export type LogEvent = (typeof logEvents)[keyof typeof logEvents];
