import { createHash } from "node:crypto";
import { createAccept, createHint, forkRun, requestPause, requestStop, retryWhileAway, unpauseRun, type Accepted, type DrainPolicy, type Forked, type NewRun } from "@mainstay/database";
import { plan, rebuild, type LoggedEvent } from "@mainstay/domain";
import { deliver, startProcess, type SimProcess } from "../world/process.js";
import type { World } from "../world/world.js";
import { poolOf } from "./stage-parts.js";
import { POOL, type SampleWorkflow } from "./workflows.js";

export const WORKSPACE = "acme";

/** An api: it accepts through the real batcher, with and without a key, asks runs to stop, to pause and to go on, and forks them. */
export type SimApi = {
  process: SimProcess;
  accept: (workflow: SampleWorkflow, options: { order: string; key?: string; unstorable?: boolean }) => string;
  cancel: (runId: string) => void;
  pause: (runId: string, drain: DrainPolicy) => void;
  resume: (runId: string) => void;
  /** A new run out of the log of one that has ended, or is about to; answers its id. */
  fork: (source: ForkedFrom) => string;
};

/** What a fork is made of, as the api reads it before: the events below the fork point. */
export type ForkedFrom = Readonly<{ sourceId: string; workflow: SampleWorkflow; mode: "replay" | "branch"; fromSeq: number; events: readonly LoggedEvent[] }>;

type Options = {
  world: World; name: string;
  onAnswer: (run: NewRun, answer: Accepted | { kind: "rejected"; error: unknown }) => void;
  onForked: (id: string, answer: Forked) => void;
};

export function startApiProcess({ world, name, onAnswer, onForked }: Options): SimApi {
  const process = startProcess(name);
  const db = poolOf(2_500);
  const made: { accept?: ReturnType<typeof createAccept>; hint?: ReturnType<typeof createHint> } = {};
  deliver(process, () => {
    made.accept = createAccept(db, { dispatchBoundMs: 2_000, giveUpMs: 8_000 });
    made.hint = createHint(db);
  });
  return {
    process,
    accept: ({ workflow, pinned }, { order, key, unstorable = false }) => {
      const id = mintId(world);
      const input = unstorable ? "{\"order\":\"\\u0000\"}" : JSON.stringify({ order });
      const { nodes, settings } = workflow.document;
      const first = plan(nodes, new Map());
      const start = first.kind === "go_on" ? first.start : [];
      const run: NewRun = {
        id, workspace: WORKSPACE, workflowId: workflow.document.id, specHash: pinned.specHash, pool: POOL, requires: pinned.requires, input,
        inputDigest: createHash("sha256").update(input).digest("hex"), subject: { kind: "key", id: "sim" },
        nextNodes: start.map((node) => ({ id: node, typeId: nodes.find((one) => one.id === node)?.typeId ?? "" })),
        ...(settings.runTimeoutMs === undefined ? {} : { runTimeoutMs: settings.runTimeoutMs }),
        ...(key === undefined ? {} : { idempotency: { operation: "runs.create", key, bodyDigest: createHash("sha256").update(input).digest("hex"), answer: { runId: id } } }),
      };
      deliver(process, () => {
        made.accept?.(run).then(
          (answer) => {
            onAnswer(run, answer);
            made.hint?.("dispatch");
          },
          (error: unknown) => { onAnswer(run, { kind: "rejected", error }); },
        );
      });
      return id;
    },
    cancel: (runId) => {
      deliver(process, () => {
        void retryWhileAway(() => requestStop(db, { runId, workspace: WORKSPACE, by: "sim", reason: "asked" })).then(() => made.hint?.("stop"), () => undefined);
      });
    },
    pause: (runId, drain) => {
      deliver(process, () => {
        void requestPause(db, { runId, workspace: WORKSPACE, by: "sim", reason: "asked", drain }).then(() => made.hint?.("stop"), () => undefined);
      });
    },
    resume: (runId) => {
      deliver(process, () => {
        void unpauseRun(db, { runId, workspace: WORKSPACE }).then(() => made.hint?.("dispatch"), () => undefined);
      });
    },
    fork: ({ sourceId, workflow, mode, fromSeq, events }) => {
      const id = mintId(world);
      const { nodes: document } = workflow.workflow.document;
      const { nodes, open } = rebuild(document, events);
      const nextNodes = open.map((node) => ({ id: node, typeId: document.find((one) => one.id === node)?.typeId ?? "" }));
      const asked = { id, workspace: WORKSPACE, sourceId, mode, fromSeq, nodes, nextNodes, overlay: {} };
      deliver(process, () => {
        // a lost reply is repeated with the same id
        retryWhileAway(() => forkRun(db, asked, { retentionDays: 30, dispatchBoundMs: 2_000 })).then((answer) => {
          onForked(id, answer);
          made.hint?.("dispatch");
        }, () => undefined);
      });
      return id;
    },
  };
}

/** Rises with the database's time, as a run's id does. */
function mintId({ chance, time }: World): string {
  const at = Math.round(time.databaseNow()).toString(16).padStart(12, "0");
  const rest = chance.uuid();
  return `${at.slice(0, 8)}-${at.slice(8)}-7${rest.slice(15)}`;
}
