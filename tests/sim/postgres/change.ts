/** A row as the database told it after a statement changed it. Times as ISO texts, bigints as numbers. */
export type Row = Readonly<Record<string, unknown>>;

/** One changed row; of a deleted one, what it was. */
export type Change = Readonly<{ table: string; op: "I" | "U" | "D"; row: Row }>;

/** What became of one statement. */
export type Outcome = Readonly<{ rows: unknown[]; error?: Error; changes: readonly Change[] }>;
