import type { Queryable } from "../../src/index.js";

/** What goes wrong with one execution: `before` it does anything, or `after` its commit, when only the reply is lost. */
export type Fault = { when: "before" | "after"; code: string };

const failure = (name: string, { when, code }: Fault): Error =>
  Object.assign(new Error(`${name}: ${code} ${when} the commit, ordered by the test`), { code });

/**
 * A connection on which executions go wrong as `faultOf` says for the statement's name. After the commit the statement
 * has really been executed by Postgres; its answer is thrown away and a connection error takes its place.
 */
export function withFaults(db: Queryable, faultOf: (name: string) => Fault | undefined): Queryable {
  return {
    query: async (statement, values) => {
      const fault = faultOf(statement.name);
      if (fault?.when === "before") throw failure(statement.name, fault);
      const rows = await db.query(statement, values);
      if (fault !== undefined) throw failure(statement.name, fault);
      return rows;
    },
  };
}

/** Loses the reply of the first execution of a statement. */
export function losesFirstReply(db: Queryable, name: string): Queryable & { lost: () => number } {
  let lost = 0;
  const faulty = withFaults(db, (asked) => {
    if (asked !== name || lost > 0) return undefined;
    lost += 1;
    return { when: "after", code: "ECONNRESET" };
  });
  return { ...faulty, lost: () => lost };
}

const codes = ["40001", "40P01", "55P03", "ECONNRESET"] as const;

/** Every fifth execution fails: contention before the commit, or a lost connection before or after it. Seeded. */
export function failsEveryFifth(db: Queryable, seed: number): Queryable & { faults: () => number } {
  let state = seed;
  let faults = 0;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const faulty = withFaults(db, () => {
    if (next() >= 0.2) return undefined;
    faults += 1;
    const code = codes[Math.floor(next() * codes.length)] ?? "ECONNRESET";
    return { when: code === "ECONNRESET" && next() < 0.7 ? "after" : "before", code };
  });
  return { ...faulty, faults: () => faults };
}
