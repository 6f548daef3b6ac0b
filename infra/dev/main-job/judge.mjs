/**
 * The document of the main job, and the claims it rests on. Everything is computed from what was observed: the answers
 * of the api, the event logs, the exit of the child and the receiver's ledger. `ok` says that every claim holds.
 */
export function judge({ services, submitted, accepted, watch, kill, takeovers, inFlight, ledger }) {
  const logs = [...watch.logs.values()].map((log) => log.map(({ event }) => event));
  const count = (type) => logs.filter((events) => events.some((event) => event.type === type)).length;
  const ends = logs.map((events) => events.filter(({ type }) => ["run.completed", "run.failed", "run.cancelled"].includes(type)).length);
  const resumed = takeovers.filter(({ observedMs }) => observedMs !== undefined);
  const tightest = resumed.reduce((a, b) => (a && a.observedMs / a.boundMs >= b.observedMs / b.boundMs ? a : b), undefined);
  const { effects, repeated, changed } = readLedger(ledger);
  const atKill = launchedByVictim({ inFlight, takeovers });

  const document = {
    ok: false,
    services,
    runs: { accepted, completed: count("run.completed"), failed: count("run.failed") },
    kill: {
      signal: kill.exit.signal,
      incarnation: kill.victim.incarnation,
      resumed: resumed.length,
      resumedBy: [...new Set(resumed.map(({ resumedBy }) => resumedBy))],
      takeovers: resumed.map(({ class: name, trigger, observedMs, boundMs }) => ({ class: name, trigger, observedMs, boundMs })),
      class: tightest?.class,
      observedMs: tightest?.observedMs,
      boundMs: tightest?.boundMs,
    },
    effects: {
      identities: effects.identities,
      accepted: effects.accepted,
      arrivals: effects.arrivals,
      repeats: effects.repeats,
      inFlightAtKill: atKill.size,
      maxAcceptedPerIdentity: effects.maxAcceptedPerIdentity,
    },
  };
  const { runs } = document;
  const claims = [
    ["every submitted run was accepted", accepted === submitted && submitted > 0],
    ["every accepted run completed", runs.completed === runs.accepted && runs.failed === 0],
    ["every run has exactly one end in its log", ends.every((number) => number === 1)],
    ["the worker really died: its parent saw SIGKILL end it", document.kill.signal === "SIGKILL"],
    ["it held runs when it died, and a peer resumed each of them", takeovers.length > 0 && resumed.length === takeovers.length && resumed.every(({ resumedBy }) => resumedBy !== kill.victim.incarnation)],
    ["each was resumed within the declared bound of its class", resumed.every(({ observedMs, boundMs }) => observedMs <= boundMs)],
    ["the receiver did each effect exactly once", effects.identities === runs.accepted && effects.accepted === effects.identities && effects.maxAcceptedPerIdentity === 1],
    ["requests were on the wire at the kill", atKill.size > 0],
    ["only those were sent again, under the same key", effects.repeats <= atKill.size && [...repeated].every((key) => atKill.has(key))],
    ["every repeat carried the same body", changed === 0],
  ].map(([claim, holds]) => ({ claim, holds }));
  document.ok = claims.every(({ holds }) => holds);
  return { document, claims };
}

/** Counts the arrivals by identity and by key. */
function readLedger(ledger) {
  const acceptedOf = new Map();
  const digestOf = new Map();
  const repeated = new Set();
  let changed = 0;
  for (const { key, identity, digest, accepted } of ledger) {
    acceptedOf.set(identity, (acceptedOf.get(identity) ?? 0) + Number(accepted));
    if (!accepted) repeated.add(key);
    if (digestOf.has(key) && digestOf.get(key) !== digest) changed += 1;
    digestOf.set(key, digest);
  }
  const accepted = [...acceptedOf.values()].reduce((sum, number) => sum + number, 0);
  const effects = {
    identities: acceptedOf.size,
    accepted,
    arrivals: ledger.length,
    repeats: ledger.length - accepted,
    maxAcceptedPerIdentity: Math.max(0, ...acceptedOf.values()),
  };
  return { effects, repeated, changed };
}

/** Keys of the effects that the killed worker had launched: not those a peer launched before we read the list. */
function launchedByVictim({ inFlight, takeovers }) {
  const resumedAt = new Map(takeovers.map(({ runId, resumedAt: at }) => [runId, at]));
  const launched = inFlight.filter(({ runId, at }) => {
    const resumption = resumedAt.get(runId);
    return resumption !== undefined && Date.parse(at) < Date.parse(resumption);
  });
  return new Set(launched.map(({ providerKey }) => providerKey));
}
