import { runOutbox } from "../../../apps/relay/src/outbox/run-outbox.js";
import { createRest } from "../../../apps/relay/src/rest.js";
import { createTicketPublisher } from "../modules/broker.js";
import { deliver, startProcess, type SimProcess } from "../world/process.js";
import type { World } from "../world/world.js";
import { loggerOf, poolOf, silentMetrics } from "./stage-parts.js";

/** A relay: the real outbox loop over the modelled broker; hints reach it a moment after they were sent. */
export function startRelayProcess({ world, name }: { world: World; name: string }): SimProcess {
  const process = startProcess(name);
  deliver(process, () => {
    const rest = createRest();
    const outbox = runOutbox({ db: poolOf(2_500), publisher: createTicketPublisher(), relay: world.chance.uuid(), relayPollMs: 1_000, rest, logger: loggerOf(name), metrics: silentMetrics });
    outbox.done.catch((error: unknown) => { world.note(`      ${name} ended: ${String(error)}`); });
    world.sessions.add({ pid: world.nextPid(), process, whole: true, openedAt: world.time.databaseNow(), locks: new Set(), wait: undefined, lockTimeoutMs: 0, end: () => {},
      onHint: (channel) => { if (channel === "dispatch") rest.end(); } });
  });
  return process;
}
