import type { Change, Row } from "../postgres/change.js";

/** What the database holds, kept beside it from what its triggers tell; and what it held, where a law asks for it. */
export type Shadow = {
  runs: Map<string, Row>;
  /** By `<run>/<node>`. */
  nodes: Map<string, Row>;
  /** Of each run, in the order they were written. */
  events: Map<string, Row[]>;
  effects: Map<string, Row>;
  incarnations: Map<string, Row>;
  outbox: Map<string, Row>;
  /** The writes of holders that were ever stored, by run. */
  writes: Map<string, Set<string>>;
  /** Deaths that buried: run-scope letters by run. */
  letters: Map<string, Row>;
  /** How many outcomes of its source a replay has with it. */
  recorded: Map<string, number>;
  /** Holds, as `<run>/<fence>`, under which a pause was asked for: it may have cut what was under way. */
  cut: Set<string>;
  /** Runs that retention took away. */
  purged: Set<string>;
  /** Identities of effects that went with them: what bears one of them again is new to the ledger, as it is told to be. */
  forgotten: Set<string>;
};

export const createShadow = (): Shadow => ({
  runs: new Map(), nodes: new Map(), events: new Map(), effects: new Map(), incarnations: new Map(), outbox: new Map(), writes: new Map(), letters: new Map(), recorded: new Map(), cut: new Set(), purged: new Set(), forgotten: new Set(),
});

/** Takes one change in; answers what the row was before. */
export function take(shadow: Shadow, { table, op, row }: Change): Row | undefined {
  const put = (map: Map<string, Row>, key: string): Row | undefined => {
    const before = map.get(key);
    if (op === "D") map.delete(key);
    else map.set(key, row);
    return before;
  };
  switch (table) {
    case "runs": {
      const id = text(row, "id");
      if (op === "D") shadow.purged.add(id);
      const writes = shadow.writes.get(id) ?? new Set();
      if (typeof row["write_id"] === "string") writes.add(row["write_id"]);
      shadow.writes.set(id, writes);
      if (row["stop_requested"] === "pause") shadow.cut.add(`${id}/${count(row, "fence")}`);
      return put(shadow.runs, id);
    }
    case "run_nodes": return put(shadow.nodes, `${text(row, "run_id")}/${text(row, "node_id")}`);
    case "run_events": {
      const run = text(row, "run_id");
      if (op === "D") shadow.events.delete(run);
      else shadow.events.set(run, [...(shadow.events.get(run) ?? []), row]);
      return undefined;
    }
    case "effects":
      if (op === "D") shadow.forgotten.add(text(row, "identity").replace("\\x", ""));
      return put(shadow.effects, text(row, "id"));
    case "incarnations": return put(shadow.incarnations, text(row, "id"));
    case "outbox": return put(shadow.outbox, String(row["seq"]));
    case "recorded_outcomes": {
      if (op === "D") shadow.recorded.delete(text(row, "run_id"));
      else shadow.recorded.set(text(row, "run_id"), (shadow.recorded.get(text(row, "run_id")) ?? 0) + 1);
      return undefined;
    }
    case "dead_letters": return row["scope"] === "run" ? put(shadow.letters, text(row, "run_id")) : undefined;
    default: return undefined;
  }
}

/** A text member; empty where there is none. */
export const text = (row: Row | undefined, name: string): string => {
  const value = row?.[name];
  return typeof value === "string" ? value : "";
};
export const count = (row: Row | undefined, name: string): number => Number(row?.[name] ?? 0);
/** An instant in milliseconds since the epoch, a millisecond early, since the database rounds what it is told; NaN where there is none. */
export const instant = (row: Row | undefined, name: string): number => Date.parse(text(row, name)) - 1;
export const isEnded = (row: Row | undefined): boolean => ["completed", "failed", "cancelled"].includes(text(row, "status"));
export const isClaimable = (row: Row | undefined): boolean => row !== undefined && row["owner"] === null && ["pending", "running", "waiting-external"].includes(text(row, "status"));
export const isGone = (row: Row | undefined): boolean => row === undefined || row["lapsed_at"] !== null || row["ended_at"] !== null;
