import { startReceiver, until, type Receiver } from "@mainstay/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

let receiver: Receiver;
beforeEach(async () => { receiver = await startReceiver(); });
afterEach(async () => { await receiver.stop(); });

function send(key: string, businessKey = key): Promise<Response> {
  return fetch(`${receiver.url}/charge`, { method: "POST", headers: { "idempotency-key": key }, body: JSON.stringify({ businessKey }) });
}

test("a repeat of a key is answered like its first and not accepted again", async () => {
  expect(await (await send("k1")).json()).toEqual({ receipt: "k1" });
  expect((await send("k1")).status).toBe(200);
  expect(receiver.ledger().map(({ accepted, digest }) => ({ accepted, digest }))).toEqual([
    { accepted: true, digest: receiver.ledger()[0]!.digest }, { accepted: false, digest: receiver.ledger()[0]!.digest },
  ]);
  expect([...receiver.accepted()]).toEqual([["k1", 1]]);
});

test("one order under two keys shows as accepted twice", async () => {
  await send("k1", "order");
  await send("k2", "order");
  expect(receiver.accepted().get("order")).toBe(2);
});

test("a refused request is not accepted and may come again", async () => {
  receiver.plan({ status: 503 });
  expect((await send("k1")).status).toBe(503);
  receiver.plan({});
  expect((await send("k1")).status).toBe(200);
  expect(receiver.accepted().get("k1")).toBe(1);
});

test("a plan may do what was asked and then break the connection; the repeat learns that it was done", async () => {
  receiver.plan({ then: "reset" });
  await expect(send("k1")).rejects.toThrow();
  expect((await send("k1")).status).toBe(200);
  expect(receiver.ledger().map(({ accepted, outcome }) => [accepted, outcome])).toEqual([[true, "reset"], [false, 200]]);
});

test("a hanging request stays open until its sender goes", async () => {
  receiver.plan({ then: "hang" });
  await expect(fetch(receiver.url, { method: "POST", signal: AbortSignal.timeout(150) })).rejects.toThrow();
  await until("the end of the connection", () => receiver.open().length === 0);
  expect(receiver.ledger()[0]!.outcome).toBe("gone");
});

test("a held request is answered when the test says so", async () => {
  let release = (): void => undefined;
  receiver.plan({ until: new Promise<void>((resolve) => { release = resolve; }) });
  const pending = send("k1");
  await until("the arrival", () => receiver.open().length === 1);
  release();
  expect((await pending).status).toBe(200);
});

test("forgotten keys are accepted again", async () => {
  await send("k1");
  receiver.forgetKeys();
  await send("k1");
  expect(receiver.accepted().get("k1")).toBe(2);
});
