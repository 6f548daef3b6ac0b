import { randomUUID } from "node:crypto";
import { projectId } from "@mainstay/contract";
import { startReceiver } from "@mainstay/testing";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw, type RawAnswer } from "./load/ask-raw.js";
import { wireFleet } from "./load/wire-fleet.js";

defineCase({ id: "C43", title: "a fork is not swallowed by the key its source was created with", fullMinutes: 1, scaledSeconds: 12 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet, api: 2 });
  const receiver = await startReceiver();
  on.defer(() => receiver.stop());
  const url = `${fleet.apiUrl()}/runs`;
  const keysOf = (order: string): readonly string[] => receiver.ledger().filter(({ body }) => body.includes(order)).map(({ key }) => key);

  for (const fails of [false, true]) {
    const order = randomUUID();
    const original = randomUUID();
    const created = await askRaw({ url, key: fleet.key, headers: { "idempotency-key": original }, body: JSON.stringify({ workflowId: "wire-charge", inputs: { order, fails, url: receiver.url } }) });
    const source = String(created.json()["runId"]);
    const status = (await fleet.waitEnded([source])).get(source);
    expect(status).toBe(fails ? "failed" : "completed");
    const before = await fleet.log(source);
    const fork = (mode: "branch" | "replay", key?: string): Promise<RawAnswer> => askRaw({
      url: `${url}/${projectId(source)}:fork`, key: fleet.key, body: JSON.stringify({ mode, fromSeq: 0 }), ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });

    const first = await fork("branch");
    if (first.status === 404 && String(first.json()["message"]).includes("no such route")) {
      on.notRun("fork", "fork");
      break;
    }
    const again = randomUUID();
    const twice = [await fork("branch", again), await fork("branch", again)] as const;
    const underTheOriginal = await fork("branch", original);
    const replays = [await fork("replay"), await fork("replay", randomUUID())] as const;
    for (const { status: answered, text } of [first, ...twice, underTheOriginal, ...replays]) expect([answered, text]).toEqual([201, text]);
    const idOf = (answer: RawAnswer): string => String(answer.json()["runId"]);
    expect(twice.map(({ headers }) => headers["openwop-idempotent-replay"])).toEqual([undefined, "true"]);
    expect(idOf(twice[0])).toBe(idOf(twice[1]));
    const forks = [first, twice[0], underTheOriginal, ...replays].map(idOf);
    expect(new Set([source, ...forks]).size).toBe(6);
    expect(new Set((await fleet.waitEnded(forks)).values())).toEqual(new Set([status]));

    // three branches sent their own effect, each under a key of its own; the replays sent none
    expect(keysOf(order)).toHaveLength(4);
    expect(new Set(keysOf(order)).size).toBe(4);
    expect(await fleet.log(source)).toEqual(before);
  }
  on.notRun("replay of a dead letter", "dead-letter recovery");
});
