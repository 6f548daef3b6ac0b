import { retryWhileAway } from "@mainstay/database";
import { keepIncarnation } from "@mainstay/liveness";
import { startWorker } from "../../../apps/worker/src/start-worker.js";
import { deliver, startProcess, type SimProcess } from "../world/process.js";
import type { World } from "../world/world.js";
import { limitsOf, workerConfig } from "./settings.js";
import { loggerOf, poolOf, silentMetrics } from "./stage-parts.js";
import { POOL, type SampleWorkflow } from "./workflows.js";

/** A worker: the real one, over the modelled pool, sessions, threads and broker. */
export type SimWorker = {
  process: SimProcess;
  /** SIGTERM: it drains, retires and ends. */
  drain: () => void;
  serves: readonly string[];
};

type Options = {
  world: World; name: string; broker: "redis" | "none";
  workflows: readonly SampleWorkflow[];
  /** An incarnation has begun: what it serves. */
  onBegun: (incarnation: string, serves: readonly string[], process: SimProcess) => void;
};

/** Starts a worker process as its `main` does. */
export function startWorkerProcess({ world, name, broker, workflows, onBegun }: Options): SimWorker {
  const process = startProcess(name);
  const serves = [...new Set(workflows.map(({ pinned }) => pinned.requires))];
  const byHash = new Map(workflows.map(({ workflow, specHash }) =>
    [specHash, { document: workflow.document, workflow, byId: new Map(workflow.document.nodes.map((node) => [node.id, node])) }]));
  const config = workerConfig(broker);
  const limits = limitsOf(config);
  const logger = loggerOf(name);
  const standing: { worker?: ReturnType<typeof startWorker>; incarnation?: Awaited<ReturnType<typeof keepIncarnation>> } = {};

  const main = async (): Promise<void> => {
    const db = poolOf(config.statementTimeoutMs + 500);
    const incarnation = await keepIncarnation({
      bornAs: world.chance.uuid(), role: "worker", pool: POOL, host: "sim", version: "1", slots: config.slots, config, limits,
      attests: "audit", logger, metrics: silentMetrics,
      onLost: () => { standing.worker?.dropAll("the incarnation has lapsed"); },
      onEnd: () => { process.dead = true; },
      onHint: (channel) => { standing.worker?.hint(channel); },
      readiness: () => ({ ready: true }),
      metricsText: async () => "",
    });
    standing.incarnation = incarnation;
    const worker = startWorker({
      config, db, limits, logger, metrics: silentMetrics,
      workflows: { requires: () => serves, refresh: async () => {}, find: async (specHash) => byHash.get(specHash) },
      life: {
        incarnation: () => {
          const { incarnation: id } = incarnation.current();
          onBegun(id, serves, process);
          return id;
        },
        attest: () => { incarnation.current().attest(); },
        validUntil: () => incarnation.current().validUntil(),
        onLapsed: () => { incarnation.renew(incarnation.current()); },
      },
    });
    standing.worker = worker;
  };
  deliver(process, () => {
    retryWhileAway(main).catch((error: unknown) => {
      world.note(`      ${name} could not start: ${String(error)}`);
      process.dead = true;
    });
  });
  return {
    process, serves,
    drain: () => {
      deliver(process, () => {
        const { worker, incarnation } = standing;
        if (worker === undefined || incarnation === undefined) return;
        void (async () => {
          await incarnation.drain();
          await worker.drain(new AbortController().signal);
          await incarnation.retire();
          process.dead = true;
          world.endSessionsOf(process, "the process has ended");
        })();
      });
    },
  };
}
