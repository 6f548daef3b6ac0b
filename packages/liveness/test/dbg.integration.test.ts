import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { findIncarnation } from "@mainstay/database";
import { createTestDatabase, until } from "@mainstay/testing";
import { createStage } from "./stage.js";
test("dbg", async () => {
  const database = await createTestDatabase();
  const stage = createStage(database.url);
  const peers = await Promise.all([stage.peer(), stage.peer(), stage.peer()]);
  for (let i = 0; i < 8; i++) {
    const child = await stage.child();
    const runs = await stage.hold(child.incarnation, 20);
    await until("w", async () => (await stage.sql(`select from incarnations n join pg_locks l
    on l.locktype = 'advisory' and l.objid::bigint = n.lifeline and l.mode = 'ShareLock' and not l.granted where n.id = $1`, [child.incarnation])).length > 0, 5000);
    const watchers = await stage.sql(`select a.application_name, n.id from incarnations n join pg_locks l on l.locktype = 'advisory' and l.objid::bigint = n.lifeline and l.mode = 'ShareLock' and not l.granted join pg_stat_activity a on a.pid = l.pid and a.datname = current_database() where n.lapsed_at is null order by 1`);
    const at = performance.now();
    const wall = Date.now();
    child.process.kill("SIGKILL");
    await until("r", async () => (await stage.sql("select from runs where owner is null and id = any($1::uuid[])", [runs])).length === 20, 5000);
    const took = performance.now() - at;
    console.log("took", Math.round(took), child.incarnation);
    if (took > 400) {
      console.log(watchers);
      for (const p of peers) console.log(p.incarnation, p.log().filter((l) => Date.parse(String(l.time)) > wall - 50).map((l) => [Date.parse(String(l.time)) - wall, l.msg, l.peer, l.reason]));
    }
    await until("l", async () => (await findIncarnation(stage.db, child.incarnation))?.lapsed, 5000);
  }
  await stage.close();
  await pause(10);
  await database.drop();
}, 60000);
