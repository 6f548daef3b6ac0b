import { DefinitionId, delayRule, isDelayMs, maxNodeExecutions, TypeId } from "@mainstay/contract";
import { workflowFailureClasses } from "../failures/failure-registration.js";
import { builtInNodeTypes, codeType, type NodeDefinition, type RetryOptions } from "../nodes/node-definition.js";
import { findCycle } from "./find-cycle.js";
import type { WorkflowDefinition } from "./workflow-definition.js";

/** Retries above this are no bound. */
const maxRetriesLimit = 1_000;

/** The longest back-off base and node time-out, in milliseconds: a day. */
const dayMs = 86_400_000;

/** The classes a code may be registered under. */
const classes: ReadonlySet<string> = new Set(workflowFailureClasses);

/**
 * Looks for everything that is wrong with a definition before any run of it exists: bad ids, unknown types, missing
 * dependencies, cycles (with their path), missing or infinite retry bounds, minted `platform.*` codes.
 *
 * @returns one sentence per problem, each naming its place; empty when the workflow may be registered.
 */
export function verifyWorkflow(definition: WorkflowDefinition<never>): readonly string[] {
  const problems: string[] = [];
  const ids = Object.keys(definition.nodes);
  if (!DefinitionId.safeParse(definition.id).success) {
    problems.push(`id: expected 1 to 128 of A-Z a-z 0-9 . _ ~ : -, seen ${quote(definition.id)}`);
  }
  if (!/^[A-Za-z0-9._+-]{1,64}$/.test(definition.version)) {
    problems.push(`version: expected 1 to 64 of A-Z a-z 0-9 . _ + -, seen ${quote(definition.version)}`);
  }
  if (ids.length === 0) problems.push("nodes: expected at least one node");
  if (definition.retry !== undefined) problems.push(...wrongRetry("retry", definition.retry));
  if (definition.runTimeoutMs !== undefined && !isWhole(definition.runTimeoutMs, 1, dayMs)) {
    problems.push(`runTimeoutMs: expected 1 to ${String(dayMs)} ms, seen ${String(definition.runTimeoutMs)}`);
  }
  if (ids.length > maxNodeExecutions) {
    problems.push(`nodes: expected at most ${String(maxNodeExecutions)} nodes, the limit maxNodeExecutions of discovery, seen ${String(ids.length)}; split the workflow`);
    return problems;
  }
  const known = new Set(ids);
  for (const [id, node] of Object.entries(definition.nodes)) problems.push(...wrongNode(id, node, known));
  const cycle = findCycle(new Map(Object.entries(definition.nodes).map(([id, node]) => [id, node.after ?? []])));
  if (cycle !== undefined) problems.push(`nodes: a cycle ${cycle.join(" → ")}; remove one of these dependencies`);
  for (const [code, registration] of Object.entries(definition.failures ?? {})) {
    problems.push(...wrongFailure(code, registration.class));
  }
  return problems;
}

function wrongNode(id: string, node: NodeDefinition<never>, ids: ReadonlySet<string>): string[] {
  const place = `nodes.${id}`;
  const problems: string[] = [];
  if (!DefinitionId.safeParse(id).success) {
    problems.push(`${place}: expected a node id of 1 to 128 of A-Z a-z 0-9 . _ ~ : -`);
  }
  for (const before of new Set(node.after ?? [])) {
    if (!ids.has(before)) problems.push(`${place}.after: no node ${quote(before)} in this workflow`);
  }
  problems.push(...wrongType(place, node), ...wrongDelay(place, node));
  if (node.retry !== undefined) problems.push(...wrongRetry(`${place}.retry`, node.retry));
  if (node.timeoutMs !== undefined && !isWhole(node.timeoutMs, 1, dayMs)) {
    problems.push(`${place}.timeoutMs: expected 1 to ${String(dayMs)} ms, seen ${String(node.timeoutMs)}`);
  }
  return problems;
}

/** Judges what was really given: plain JavaScript may leave out or mix what the types keep apart. */
function wrongType(place: string, node: { type?: string; typeId?: string; run?: unknown }): string[] {
  const known: readonly string[] = builtInNodeTypes;
  const { type, typeId, run } = node;
  if (type !== undefined && type !== codeType) {
    if (!known.includes(type)) {
      return [`${place}.type: expected one of ${known.join(", ")} or a node with run, seen ${quote(type)}`];
    }
    return run === undefined ? [] : [`${place}: a node of type ${type} has no run; leave out one of the two`];
  }
  if (typeof run !== "function") return [`${place}: expected a type or a run function`];
  if (typeId !== undefined && (known.includes(typeId) || !TypeId.safeParse(typeId).success)) {
    return [`${place}.typeId: expected a dotted type id that is no built-in one, seen ${quote(typeId)}`];
  }
  return [];
}

/** A fixed delay is judged here, one out of the input when a run is created, one out of a mapping as it is run. */
function wrongDelay(place: string, node: { type?: string; config?: Readonly<Record<string, unknown>>; input?: unknown }): string[] {
  if (node.type !== "core.delay" || node.input !== undefined) return [];
  const delay = node.config?.["delayMs"];
  const reference = typeof delay === "object" && delay !== null ? delay as { $input?: unknown; default?: unknown } : undefined;
  if (typeof reference?.$input !== "string") {
    return isDelayMs(delay) ? [] : [`${place}.config.delayMs: expected ${delayRule}, or { $input: "name" }, seen ${shown(delay)}`];
  }
  if (reference.default === undefined || isDelayMs(reference.default)) return [];
  return [`${place}.config.delayMs.default: expected ${delayRule}, seen ${shown(reference.default)}`];
}

function wrongRetry(place: string, retry: RetryOptions): string[] {
  const problems: string[] = [];
  if (!isWhole(retry.maxRetries, 0, maxRetriesLimit)) {
    problems.push(
      `${place}.maxRetries: expected a whole number from 0 to ${String(maxRetriesLimit)}, seen ${String(retry.maxRetries)}; a retry bound is never missing or infinite`,
    );
  }
  if (retry.baseMs !== undefined && !isWhole(retry.baseMs, 1, dayMs)) {
    problems.push(`${place}.baseMs: expected 1 to ${String(dayMs)} ms, seen ${String(retry.baseMs)}`);
  }
  return problems;
}

function wrongFailure(code: string, failureClass: string): string[] {
  const place = `failures.${code}`;
  if (code.startsWith("platform.") || code === "platform") {
    return [`${place}: platform.* codes are the engine's; register a code of your own, it will read app.<code>`];
  }
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(code)) return [`${place}: expected a lower snake case code without a prefix`];
  if (!classes.has(failureClass)) return [`${place}.class: expected one of ${[...classes].join(", ")}`];
  return [];
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

const shown = (value: unknown): string => (typeof value === "number" || value === undefined ? String(value) : JSON.stringify(value));

function quote(value: string): string {
  return JSON.stringify(value);
}
