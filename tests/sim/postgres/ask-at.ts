import pg from "pg";
import type { Statement } from "@mainstay/database";

/** The prepared statement that sets a session's clock and process number; prepare it once per session. */
export const CLOCK = "sim.clock";
export const clockText = "select set_config('sim.now', $1, false), set_config('sim.pid', $2, false)";

type Connection = { stream: { cork: () => void; uncork: () => void }; bind: (config: object) => void; execute: (config: object) => void };
type Asked = Readonly<{ client: pg.Client; statement: Statement<unknown>; values: readonly unknown[]; clock: readonly [now: string, pid: string] }>;

/** Executes a statement at an instant of the simulation: the clock is set and the statement sent in one message to the server. */
export function askAt({ client, statement, values, clock }: Asked): Promise<Record<string, unknown>[]> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query({ name: statement.name, text: statement.text, values: [...values] }) as unknown as Handlers;
    const { submit, handleDataRow, handleCommandComplete } = query;
    let set = false; // the first answer is the clock's
    Object.assign(query, {
      callback: (error: Error | null, result: pg.QueryResult<Record<string, unknown>>) => { if (error === null) resolve(result.rows); else reject(error); },
      submit: (connection: Connection): unknown => {
        connection.stream.cork();
        connection.bind({ statement: CLOCK, values: [...clock] });
        connection.execute({ portal: "", rows: 0 });
        const refused = submit.call(query, connection);
        connection.stream.uncork();
        return refused;
      },
      handleDataRow: (message: unknown): void => { if (set) handleDataRow.call(query, message); },
      handleCommandComplete: (message: unknown, connection: unknown): void => {
        if (set) handleCommandComplete.call(query, message, connection);
        set = true;
      },
    });
    client.query(query as unknown as pg.Submittable);
  });
}

type Handlers = { submit: (connection: unknown) => unknown; handleDataRow: (message: unknown) => void; handleCommandComplete: (message: unknown, connection: unknown) => void };
