import { labelValues } from "./label-values.js";
import { counter, each, everywhere, gauge, histogram } from "./metric.js";

/** Liveness, takeovers, lanes, effects and dead letters. */
export const recoveryMetrics = {
  heartbeat: gauge({
    name: "mainstay_heartbeat_timestamp_seconds", help: "When this incarnation last proved its life.", labels: ["pool"], from: ["worker"],
  }),
  draining: gauge({
    name: "mainstay_worker_draining", help: "1 while the worker drains.", labels: ["pool"], from: ["worker"],
  }),
  slots: gauge({
    name: "mainstay_worker_slots", help: "Runs the worker may hold.", labels: ["pool"], from: ["worker"],
  }),
  slotsInUse: gauge({
    name: "mainstay_worker_slots_in_use", help: "Runs the worker holds.", labels: ["pool"], from: ["worker"],
  }),
  incarnationsLapsed: counter({
    name: "mainstay_incarnations_lapsed_total", help: "Incarnations that this process declared lapsed.", labels: ["trigger"], from: everywhere,
    known: each("trigger", ["heartbeat_expired", "loop_wedged"]),
  }),
  takeovers: counter({
    name: "mainstay_takeovers_total", help: "Runs released from a holder that was lost.", labels: ["trigger"], from: everywhere,
    known: each("trigger", labelValues.trigger),
  }),
  holdingsMislaid: counter({
    name: "mainstay_holdings_mislaid_total", help: "Runs the database said held and their holder did not know.", labels: [], from: ["worker"],
  }),
  recoveryBound: gauge({
    name: "mainstay_recovery_bound_seconds", help: "The declared bound of a recovery class, from the settings in force; each has one trigger.", labels: ["class", "trigger"], from: ["supervisor"],
  }),
  recoveryInterval: histogram({
    name: "mainstay_recovery_interval_seconds", help: "From the loss to the claim that resumed the run.", labels: ["class", "trigger"], from: ["worker"],
    buckets: [0.1, 0.25, 0.5, 1, 2, 3, 4, 4.5, 5, 10, 14.5, 25.5, 60], known: labelValues.recoveryClass.map((name, at) => ({ class: name, trigger: labelValues.trigger[at] ?? "" })),
  }),
  laneLastSuccess: gauge({
    name: "mainstay_lane_last_success_timestamp_seconds", help: "When a lane last came through a tick.", labels: ["lane"], from: ["supervisor"],
  }),
  laneItemFailures: counter({
    name: "mainstay_lane_item_failures_total", help: "Items a lane skipped because their statement failed.", labels: ["lane"], from: ["supervisor"],
  }),
  effects: gauge({
    name: "mainstay_effects", help: "Effects in the ledger by state.", labels: ["state"], from: ["supervisor"], known: each("state", labelValues.effectState),
  }),
  effectsSettled: counter({
    name: "mainstay_effects_settled_total", help: "Effects that were settled.", labels: ["class"], from: ["worker"],
    known: each("class", labelValues.effectClass),
  }),
  deadLetters: gauge({
    name: "mainstay_dead_letters", help: "Open dead letters of runs, nodes and emissions.", labels: ["class", "state"], from: ["supervisor"],
  }),
  deadLettersOldest: gauge({
    name: "mainstay_dead_letters_oldest_timestamp_seconds", help: "When the oldest open dead letter was made; 0 when there is none.",
    labels: ["class", "state"], from: ["supervisor"],
  }),
  deadLettersOpened: counter({
    name: "mainstay_dead_letters_opened_total", help: "Dead letters made.", labels: ["class", "disposition"], from: everywhere,
  }),
  messageDeadLetters: gauge({
    name: "mainstay_message_dead_letters", help: "Open dead messages of the queue; never added to the dead letters of runs.", labels: ["reason"], from: ["supervisor"],
  }),
  messageDeadLettersOldest: gauge({
    name: "mainstay_message_dead_letters_oldest_timestamp_seconds", help: "When the oldest open dead message was recorded; 0 when there is none.",
    labels: ["reason"], from: ["supervisor"],
  }),
  messageDeadLettersOpened: counter({
    name: "mainstay_message_dead_letters_opened_total", help: "Dead messages recorded.", labels: ["reason"], from: ["worker", "relay"],
    known: each("reason", labelValues.badTicket),
  }),
} as const;
