import { officialFixtures } from "@mainstay/contract";
import { findCurrentWorkflows, type FoundWorkflow, type Queryable } from "@mainstay/database";
import { createInputCheck, type InputCheck } from "./create-input-check.js";

/** A definition with the check of its inputs. */
export type CataloguedWorkflow = FoundWorkflow & { checkInput: InputCheck };

/** What this api knows of the registered workflows. */
export type WorkflowCatalogue = Readonly<{
  /** The current definition of a workflow, at most `freshForMs` old; an unknown one is asked for every time. */
  current: (workflowId: string) => Promise<CataloguedWorkflow | undefined>;
  /** Which of the official fixtures are registered, in their order; `freshForMs` old at most. */
  fixtures: () => Promise<readonly string[]>;
}>;

/** Definitions kept at most; the least recently made one goes first. */
const maxKept = 1_000;

/** Reads definitions when a run of them is created and keeps each for `freshForMs` (2 s). */
export function createWorkflowCatalogue(db: Queryable, freshForMs = 2_000): WorkflowCatalogue {
  const kept = new Map<string, { at: number; workflow: CataloguedWorkflow }>();
  const asking = new Map<string, Promise<CataloguedWorkflow | undefined>>();
  let fixtures: { at: number; ids: readonly string[] } | undefined;

  async function ask(workflowId: string): Promise<CataloguedWorkflow | undefined> {
    const before = kept.get(workflowId)?.workflow;
    const [found] = await findCurrentWorkflows(db, [workflowId]);
    kept.delete(workflowId);
    if (found === undefined) return undefined;
    const same = before?.specHash === found.specHash;
    const workflow = same ? before : { ...found, checkInput: createInputCheck(found.document) };
    kept.set(workflowId, { at: performance.now(), workflow });
    const oldest = kept.keys().next().value;
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return workflow;
  }

  return {
    current(workflowId) {
      const known = kept.get(workflowId);
      if (known !== undefined && performance.now() - known.at < freshForMs) return Promise.resolve(known.workflow);
      const under = asking.get(workflowId);
      if (under !== undefined) return under;
      const asked = ask(workflowId).finally(() => asking.delete(workflowId));
      asking.set(workflowId, asked);
      return asked;
    },
    async fixtures() {
      if (fixtures !== undefined && performance.now() - fixtures.at < freshForMs) return fixtures.ids;
      try {
        const found = new Set((await findCurrentWorkflows(db, officialFixtures)).map((one) => one.workflowId));
        fixtures = { at: performance.now(), ids: officialFixtures.filter((id) => found.has(id)) };
        return fixtures.ids;
      } catch (error) {
        // Discovery keeps answering while the database is away, with what was known last.
        if (fixtures !== undefined) return fixtures.ids;
        throw error;
      }
    },
  };
}
