import { expect, test } from "vitest";
import { findIncarnation } from "@mainstay/database";
import { createTestDatabase } from "@mainstay/testing";
import { createStage } from "./stage.js";
test("dbg", async () => {
  const database = await createTestDatabase();
  const stage = createStage(database.url);
  let bad = 0;
  for (let i = 0; i < 60; i++) {
    const peer = await stage.peer();
    await stage.hold(peer.incarnation, 3);
    await peer.liveness.drain();
    const at = Date.now();
    await peer.liveness.retire();
    const took = Date.now() - at;
    const f = await findIncarnation(stage.db, peer.incarnation);
    if (f?.holds !== 0) { bad++; console.log(i, took, f, peer.lost, peer.log().map((l) => [l.msg, JSON.stringify(l.err ?? l.reason ?? l.held ?? "")])); }
  }
  await stage.close();
  await database.drop();
  expect(bad).toBe(0);
}, 120000);
