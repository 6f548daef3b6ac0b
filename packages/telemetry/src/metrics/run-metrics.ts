import { labelValues } from "./label-values.js";
import { counter, each, everywhere, gauge, histogram } from "./metric.js";

/** Acceptance, claims, attempts and endings of runs. */
export const runMetrics = {
  runsAccepted: counter({
    name: "mainstay_runs_accepted_total", help: 'Runs answered with "created".', labels: ["workflow"], from: ["api"],
  }),
  acceptRefused: counter({
    name: "mainstay_accept_refused_total", help: "Runs refused at the door.", labels: ["reason"], from: ["api"],
  }),
  acceptQueue: gauge({
    name: "mainstay_accept_queue", help: "Accepts that wait for the flush in flight.", labels: [], from: ["api"],
  }),
  groupCommitBatchSize: histogram({
    name: "mainstay_group_commit_batch_size", help: "Items that shared one statement.", labels: ["op"], from: everywhere,
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], known: each("op", labelValues.op),
  }),
  runs: gauge({
    name: "mainstay_runs", help: "Runs in the database by status; the same number from every supervisor.", labels: ["status"], from: ["supervisor"],
    known: each("status", labelValues.status),
  }),
  runsFinished: counter({
    name: "mainstay_runs_finished_total", help: "Runs that ended, counted where the ending was committed.",
    labels: ["workflow", "status", "dead_lettered"], from: everywhere,
  }),
  runDuration: histogram({
    name: "mainstay_run_duration_seconds", help: "From acceptance to the ending.", labels: ["workflow", "status"], from: ["worker"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 60, 1_800],
  }),
  runQueueWait: histogram({
    name: "mainstay_run_queue_wait_seconds", help: "From due to claimed.", labels: ["workflow", "status"], from: ["worker"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 300],
  }),
  attemptDuration: histogram({
    name: "mainstay_attempt_duration_seconds", help: "One execution of a node.", labels: ["workflow", "status"], from: ["worker"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 30],
  }),
  dueRuns: gauge({
    name: "mainstay_due_runs", help: "Runs that are due and held by nobody.", labels: ["pool"], from: ["supervisor"],
  }),
  dueRunsOldest: gauge({
    name: "mainstay_due_runs_oldest_timestamp_seconds", help: "When the oldest such run became due; 0 when there is none.", labels: ["pool"], from: ["supervisor"],
  }),
  attempts: counter({
    name: "mainstay_attempts_total", help: "Executions of nodes that began.", labels: ["workflow"], from: ["worker"],
  }),
  retries: counter({
    name: "mainstay_retries_total", help: "Failed attempts that will be tried again.", labels: ["class"], from: ["worker"],
    known: each("class", labelValues.failureClass),
  }),
  failuresUnclassified: counter({
    name: "mainstay_failures_unclassified_total", help: "Failures whose code no table knows; not retried.", labels: ["workflow"], from: ["worker"],
  }),
  crashLimit: counter({
    name: "mainstay_crash_limit_total", help: "Runs buried because they kept killing their worker.", labels: ["workflow"], from: everywhere,
  }),
  claims: counter({
    name: "mainstay_claims_total", help: "Claims asked for, by answer; the reason of a won one is none.", labels: ["pool", "result", "reason"], from: ["worker"],
  }),
  sweptRuns: counter({
    name: "mainstay_swept_runs_total", help: "Runs claimed by a sweep, not by a ticket.", labels: ["pool"], from: ["worker"],
  }),
  fenceRejected: counter({
    name: "mainstay_fence_rejected_total", help: "Late writes refused by the fence.", labels: ["op"], from: everywhere,
    known: each("op", labelValues.op),
  }),
  terminalRejects: counter({
    name: "mainstay_terminal_rejects_total", help: "Signals for a run that had ended, refused before any of its code ran.", labels: ["op"], from: everywhere,
  }),
} as const;
