import type { TestFleet } from "@mainstay/testing";

/** Tables that the fleet itself writes while nobody asks for anything: heartbeats, lane leases. */
const alive = new Set(["incarnations", "lanes"]);

/** Every table of the schema, each row as text, in a fixed order. */
export async function dumpTables(fleet: Pick<TestFleet, "sql">): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = await fleet.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1",
  );
  const dump = new Map<string, readonly string[]>();
  for (const { name } of tables) {
    const rows = await fleet.sql<{ row: string }>(`select t::text as row from public."${name}" t order by 1`);
    dump.set(name, rows.map(({ row }) => row));
  }
  return dump;
}

/** The dump without what changes by itself: what must be equal before and after a refused request. */
export function stillTables(dump: ReadonlyMap<string, readonly string[]>): Record<string, readonly string[]> {
  return Object.fromEntries([...dump].filter(([name]) => !alive.has(name)));
}
