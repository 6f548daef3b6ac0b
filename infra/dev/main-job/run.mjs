import { createClient } from "@mainstay/sdk";
import { say } from "../say.mjs";
import { createDemoKey } from "./create-demo-key.mjs";
import { showMainJob } from "./show-main-job.mjs";
import { startDemoFleet } from "./start-demo-fleet.mjs";
import { startReceiver } from "./start-receiver.mjs";
import { stayUp } from "./stay-up.mjs";
import { tellFleet, tellResult, tellWhatNext } from "./tell.mjs";

/** The receiver takes this long to answer, so that a killed worker leaves requests on the wire. */
const answerAfterMs = () => 1_000 + Math.random() * 1_000;

/**
 * The main job before the reader's eyes, on a migrated database: a fleet of real processes, runs with an effect on the
 * outside world, one worker killed while it holds runs, its peer taking them over, every run completed.
 *
 * `--exit` ends after the table; `--json` prints the document on stdout. Answers 0 only if every claim of it holds.
 */
export async function runMainJob({ databaseUrl, redisUrl, broker, postgresHow, brokerHow, argv }) {
  const ends = argv.includes("--exit");
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, onSignal);
  const receiver = await startReceiver({ answerAfterMs });
  let fleet;
  try {
    say("starting api, relay, two workers and a supervisor …");
    const key = await createDemoKey(databaseUrl);
    const started = await startDemoFleet({ databaseUrl, redisUrl, broker });
    fleet = started.fleet;
    tellFleet({ ...started, receiver, services: { postgres: postgresHow, broker: `${broker} (${brokerHow})` } });

    const client = createClient({ url: fleet.apiUrl(), key });
    const shown = await showMainJob({ fleet, client, receiver, services: { postgres: postgresHow, broker }, signal: stop.signal });
    tellResult({ ...shown, fleet });
    if (argv.includes("--json")) process.stdout.write(`${JSON.stringify(shown.document)}\n`);
    if (!ends) {
      await fleet.add("worker"); // two again
      tellWhatNext({ url: fleet.apiUrl(), key, logFolder: started.logFolder });
      await stayUp({ fleet, signal: stop.signal });
    }
    return shown.document.ok ? 0 : 1;
  } catch (error) {
    if (stop.signal.aborted) return 130;
    throw error;
  } finally {
    if (fleet !== undefined) await stopFleet(fleet);
    await receiver.stop();
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, onSignal);
  }
}

async function stopFleet(fleet) {
  say("stopping the fleet …");
  const exits = await fleet.stop({ withinMs: 30_000 });
  for (const { name, code, signal } of exits) if (code !== 0) say(`  ${name} ended with ${signal ?? `status ${code}`}`);
}
