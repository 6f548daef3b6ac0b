/**
 * One row per run that the killed worker held: `{ runId, class, trigger, observedMs, boundMs, resumedBy, byEventMs }`.
 * A run was held when the worker's last lease of it ended in `lease.lost`, not in the run's end. `observedMs` is our
 * clock from the kill to the arrival of `workflow.restored` of another incarnation; `byEventMs` is the same by the
 * event's own timestamp. A run that nobody resumed has neither.
 */
export function readTakeovers({ logs, kill, bounds, classOfTrigger }) {
  const rows = [];
  for (const [runId, log] of logs) {
    const lost = log.findIndex(({ event, arrivedAt }) =>
      event.type === "lease.lost" && event.payload.instanceId === kill.victim.incarnation && arrivedAt >= kill.killedAt);
    if (lost < 0) continue;
    const restored = log.slice(lost).find(({ event }) => event.type === "workflow.restored");
    const resumed = log.slice(lost).find(({ event }) => event.type === "lease.acquired");
    const trigger = restored?.event.payload["x-trigger"] ?? log[lost].event.payload["x-trigger"];
    const recoveryClass = classOfTrigger(trigger);
    rows.push({
      runId,
      class: recoveryClass,
      trigger,
      observedMs: restored && Math.max(0, Math.ceil(restored.arrivedAt - kill.killedAt)),
      boundMs: bounds.find((bound) => bound.class === recoveryClass)?.bound,
      resumedBy: resumed?.event.payload.instanceId,
      resumedAt: resumed?.event.timestamp,
      byEventMs: restored && Date.parse(restored.event.timestamp) - kill.killedAtWall,
    });
  }
  return rows;
}
