import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { requireTool, type ToolName } from "../tools/require-tool.js";
import type { CaseDescription, CaseOn, Scale } from "./case-on.js";
import type { CaseRecord } from "./case-record.js";
import { startCaseFleet, type HeldFleet } from "./start-case-fleet.js";

export type { CaseFleet, CaseFleetOptions, CaseOn, Scale } from "./case-on.js";

const folder = fileURLToPath(new URL("../../../.data/results/cases", import.meta.url));
const scale: Scale = process.env["MAINSTAY_CASES"] === "full" ? "full" : "scaled";
const minuteMs = 60_000;

/**
 * Declares a fault case: one test, which ends with the standing checks over every fleet it started. It leaves a record in
 * `.data/results/cases/<id>.<scale>.json`, whatever became of it.
 */
export function defineCase(description: CaseDescription, act: (on: CaseOn) => Promise<void>): void {
  const { id, title, fullMinutes, scaledSeconds, tools = [] } = description;
  const timeout = scale === "full" ? fullMinutes * 3 * minuteMs + 2 * minuteMs : scaledSeconds * 10_000 + minuteMs;
  test(`${id} ${title}`, { timeout }, async (context) => {
    const record: CaseRecord = { id, title, scale, result: "failed", seconds: 0, measures: [], notRun: [] };
    const begun = performance.now();
    const undos: (() => unknown)[] = [];
    const held = new Map<unknown, HeldFleet>();
    try {
      const places = await findTools(tools, record);
      if (places !== undefined) {
        await act(makeOn({ id, record, undos, held, places }));
        for (const { check } of held.values()) await check();
      }
      record.result = record.notRun.some(({ part }) => part === "all") ? "not run" : "passed";
    } catch (error) {
      record.error = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      const failures = await undoAll(undos);
      if (failures.length > 0) record.result = "failed";
      record.seconds = Math.round((performance.now() - begun) / 100) / 10;
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, `${id}.${scale}.json`), `${JSON.stringify(record, undefined, 2)}\n`);
      if (failures.length > 0 && record.error === undefined) throw new AggregateError(failures, `${id} could not be undone`);
    }
    const waits = record.notRun.map(({ part, needs }) => `${part}: needs ${needs}`).join("; ");
    if (record.result !== "not run") return;
    if (process.env["CI"]) throw new Error(`not run: ${waits}`);
    context.skip(`not run: ${waits}`);
  });
}

async function findTools(names: readonly ToolName[], record: CaseRecord): Promise<Map<ToolName, string> | undefined> {
  const places = new Map<ToolName, string>();
  for (const name of names) {
    const tool = await requireTool(name);
    if ("notRun" in tool) record.notRun.push({ part: "all", needs: tool.notRun });
    else places.set(name, tool.path);
  }
  return record.notRun.length > 0 ? undefined : places;
}

type Making = { id: string; record: CaseRecord; undos: (() => unknown)[]; held: Map<unknown, HeldFleet>; places: ReadonlyMap<ToolName, string> };

function makeOn({ id, record, undos, held, places }: Making): CaseOn {
  const canary = `canary-${id.toLowerCase()}-9f27c1e08d5b`;
  return {
    scale, canary,
    pick: (full, scaled) => (scale === "full" ? full : scaled),
    tell: (line) => void process.stderr.write(`${id} ${line}\n`),
    measure: (name, value, unit = "") => void record.measures.push({ name, value: typeof value === "number" ? Math.round(value * 100) / 100 : value, unit }),
    notRun: (part, needs) => void record.notRun.push({ part, needs }),
    tool(name) {
      const place = places.get(name);
      if (place === undefined) throw new Error(`${id} uses ${name} and does not name it in its tools`);
      return place;
    },
    async startFleet(options = {}) {
      const one = await startCaseFleet({ id, scale, canary, options });
      held.set(one.fleet, one);
      undos.push(one.release);
      return one.fleet;
    },
    checkStanding: async (fleet) => held.get(fleet)?.check(),
    defer: (undo) => void undos.push(undo),
  };
}

async function undoAll(undos: readonly (() => unknown)[]): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const undo of [...undos].reverse()) {
    try {
      await undo();
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}
