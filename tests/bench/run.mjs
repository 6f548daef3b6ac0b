import { recoveryBounds, readConfig } from "@mainstay/config";
import { say } from "../../infra/dev/say.mjs";
import { withLock } from "../../infra/dev/set-up/with-lock.mjs";
import { openStepSink } from "./measure/step-sink.mjs";
import { findFaults } from "./report/find-faults.mjs";
import { judgeFloors } from "./report/judge-floors.mjs";
import { summarise } from "./report/summarise.mjs";
import { writePage } from "./report/write-page.mjs";
import { floorRows, tableOf, writeTable } from "./report/write-table.mjs";
import { runRounds } from "./run-rounds.mjs";
import { startServers } from "./services/start-servers.mjs";

/**
 * The bench; progress on stderr, tables or one JSON document on stdout. Answers 1 when something is wrong whatever the
 * speed (a recorded step executed twice, a run not brought back) and, with `check`, when a floor is missed or unmeasured.
 * Only a whole run writes the page.
 */
export function runBench(options) {
  return withLock("bench", async () => {
    const servers = await startServers();
    const sink = await openStepSink();
    try {
      const results = await runRounds(options, { servers, sink, tell: say });
      const summary = summarise(results, servers);
      const verdicts = judgeFloors(summary);
      const leased = recoveryBounds(readConfig("api", { DATABASE_URL: servers.urlOf("x"), MAINSTAY_BROKER: "none" })).find((one) => one.class === "leased");
      const faults = findFaults(results, { leasedBoundMs: leased.bound });
      if (options.complete) writePage({ results, summary, verdicts, rounds: options.rounds });
      const print = options.json ? say : (text) => console.log(text);
      print(`\n${writeTable(tableOf(results))}\n\n${writeTable(floorRows(verdicts))}\n`);
      for (const fault of faults) say(`FAULT  ${fault}`);
      if (options.json) console.log(JSON.stringify(summary, null, 2));
      return faults.length > 0 || (options.check && verdicts.some(({ ok }) => ok !== true)) ? 1 : 0;
    } finally {
      sink.close();
      await servers.stop();
    }
  });
}
