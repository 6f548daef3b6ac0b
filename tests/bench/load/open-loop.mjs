import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../measure/clock.mjs";
import { openConnection } from "./connection.mjs";

/** `rate` requests a second for `seconds`, each due at its own time whether or not the last was answered; latency counts from when it was due. */
export async function openLoop(system, { rate, seconds, prefix }) {
  const connections = await Promise.all(Array.from({ length: 64 }, () => openConnection(system.port())));
  const free = [...connections];
  const sentAt = new Map();
  const answers = [];
  const began = now();
  for (let k = 0; k < rate * seconds; k++) {
    const due = began + (k * 1_000) / rate;
    if (due - now() > 1) await sleep(due - now());
    while (free.length === 0) await sleep(1);
    const connection = free.pop();
    const id = `${prefix}-${k}`;
    sentAt.set(id, due);
    answers.push(connection.post(system.request({ id, kind: "noop", ms: 0 })).then(() => free.push(connection)));
  }
  await Promise.all(answers);
  for (const connection of connections) connection.close();
  return { sentAt, tookMs: now() - began };
}
