import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  builtInTypes, codeCapability, conformanceFixtures, crashFixture, crashType, ownFixtures,
  type NodeDocument, type WorkflowDocument,
} from "@mainstay/domain";
import { findPinnedWorkflows, listServedRequirements, pinWorkflow, registerWorkflows, type Queryable } from "@mainstay/database";
import type { Workflow } from "@mainstay/sdk";

/** A definition this worker can execute. */
export type KnownWorkflow = { document: WorkflowDocument; byId: ReadonlyMap<string, NodeDocument>; workflow?: Workflow };

export type KnownWorkflows = {
  /** The requirement keys this worker serves, as last read. */
  requires: () => readonly string[];
  /** Reads them again when the database names a newer ordinal. */
  refresh: (ordinal: string) => Promise<void>;
  /** The definition with this hash; read once and kept. */
  find: (specHash: string) => Promise<KnownWorkflow | undefined>;
};

const known = (document: WorkflowDocument, workflow?: Workflow): KnownWorkflow =>
  ({ document, byId: new Map(document.nodes.map((node) => [node.id, node])), ...(workflow === undefined ? {} : { workflow }) });

/**
 * Loads the module of workflows, registers its definitions and the fixtures for this pool, and learns which
 * requirements this worker serves. Throws when the module cannot be loaded or exports no `workflows`.
 */
export async function loadKnownWorkflows(
  db: Queryable, { modulePath, pool, production }: { modulePath: string | undefined; pool: string; production: boolean },
): Promise<KnownWorkflows> {
  const own = modulePath === undefined ? [] : await importWorkflows(modulePath);
  const fixtures = [...conformanceFixtures, ...ownFixtures, ...(production ? [] : [crashFixture])];
  const pinned = [
    ...fixtures.map((document) => ({ ...pinWorkflow(document, pool), workflow: undefined })),
    ...own.map((workflow) => ({ ...pinWorkflow(workflow.document, pool), workflow })),
  ];
  await registerWorkflows(db, pinned);
  const bySpec = new Map(pinned.map(({ specHash, document, workflow }) => [specHash, known(document, workflow)]));
  const capabilities = [
    ...builtInTypes, ...(production ? [] : [crashType]),
    ...pinned.filter(({ workflow }) => workflow !== undefined).map(({ document, specHash }) => codeCapability(document.id, specHash)),
  ];
  let requires = await listServedRequirements(db, { pool, capabilities });
  let seen = "";
  return {
    requires: () => requires,
    refresh: async (ordinal) => {
      if (ordinal === seen) return;
      requires = await listServedRequirements(db, { pool, capabilities });
      seen = ordinal;
    },
    find: async (specHash) => {
      const kept = bySpec.get(specHash);
      if (kept !== undefined) return kept;
      const [found] = await findPinnedWorkflows(db, [specHash]);
      if (found === undefined) return undefined;
      const fresh = known(found.document);
      bySpec.set(specHash, fresh);
      return fresh;
    },
  };
}

async function importWorkflows(path: string): Promise<readonly Workflow[]> {
  const loaded = (await import(pathToFileURL(resolve(path)).href)) as { workflows?: unknown };
  if (!Array.isArray(loaded.workflows)) throw new Error(`MAINSTAY_WORKFLOWS: the module exports no array named workflows`);
  return loaded.workflows as readonly Workflow[];
}
