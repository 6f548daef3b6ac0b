import { say } from "../say.mjs";

const ms = (value) => `${Math.round(value).toLocaleString("en").replaceAll(",", " ")} ms`;
const short = (incarnation) => incarnation.slice(0, 8);

/** Who runs where. */
export function tellFleet({ fleet, receiver, egressAllow, services }) {
  say("");
  say("the fleet, each a process of its own");
  for (const { name, url, incarnation, pid } of [...fleet.processes()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    say(`  ${name.padEnd(14)}${url.padEnd(26)}pid ${String(pid).padEnd(9)}incarnation ${short(incarnation)}…`);
  }
  say(`  ${"postgres".padEnd(14)}${services.postgres}`);
  say(`  ${"broker".padEnd(14)}${services.broker}`);
  say(`  ${"receiver".padEnd(14)}${new URL(receiver.url).origin.padEnd(26)}the outside world of this demonstration`);
  say(`  workers may reach private addresses: MAINSTAY_EGRESS_ALLOW=${egressAllow}`);
  say("");
}

/** One line while the peer takes over. */
export function tellProgress({ sinceMs, resumed, lost, completed, accepted }) {
  say(`     ${(sinceMs / 1000).toFixed(1).padStart(4)} s after the kill   ${resumed} of ${lost} runs resumed by the peer, ${completed} of ${accepted} completed`);
}

/** The short table and the claims. */
export function tellResult({ document, claims, takeovers, fleet }) {
  const { runs, kill, effects } = document;
  const nameOf = (incarnation) => fleet.processes().find((one) => one.incarnation === incarnation)?.name ?? short(incarnation);
  const why = {
    severed: "its session was gone and the run had no request on the wire",
    leased: "its heartbeat ran out; a request was on the wire",
  };
  say("");
  say(`  ${"taken over as".padEnd(16)}${"runs".padStart(5)}${"slowest".padStart(12)}${"by its log".padStart(12)}${"bound".padStart(12)}   because`);
  for (const name of new Set(kill.takeovers.map((one) => one.class))) {
    const rows = takeovers.filter((one) => one.class === name);
    const slowest = Math.max(...rows.map(({ observedMs }) => observedMs));
    const byLog = Math.max(...rows.map(({ byEventMs }) => byEventMs)); // the database's clock, for comparison
    say(`  ${String(name).padEnd(16)}${String(rows.length).padStart(5)}${ms(slowest).padStart(12)}${ms(byLog).padStart(12)}${ms(rows[0].boundMs).padStart(12)}   ${why[name] ?? rows[0].trigger}`);
  }
  say("");
  say(`  runs      ${runs.accepted} accepted, ${runs.completed} completed, ${runs.failed} failed; ${kill.resumed} resumed by ${kill.resumedBy.map(nameOf).join(", ") || "nobody"}`);
  say(`  effects   ${effects.identities} orders charged ${effects.accepted} times, ${effects.arrivals} requests arrived, ${effects.repeats} of them repeats; ${effects.inFlightAtKill} were in flight at the kill`);
  say("");
  for (const { claim, holds } of claims) say(`  ${holds ? "holds " : "BROKEN"}  ${claim}`);
  say("");
}

/** What to do next, while the fleet stays up. */
export function tellWhatNext({ url, key, logFolder }) {
  say(`the fleet stays up; logs in ${logFolder}. Ctrl-C stops it.`);
  say("");
  say(`  export MAINSTAY_URL=${url} MAINSTAY_KEY=${key}`);
  say("  npm run -s mainstay -- run create conformance-noop");
  say(`  curl -s ${url}/.well-known/openwop`);
  say(`  curl -s -H "authorization: Bearer $MAINSTAY_KEY" ${url}/ops/v1/bounds`);
  say("");
}
