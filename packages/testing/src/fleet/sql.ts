import type pg from "pg";

/** Reads the database as its owner, for assertions. */
export type Sql = <Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
