import { projectId } from "@mainstay/contract";
import { createClient } from "@mainstay/sdk";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { wireFleet } from "./load/wire-fleet.js";

/** JSON texts, as they stand in a body. */
const refused: readonly (readonly [json: string, path: string])[] = [
  ['"a\\u0000b"', "inputs"], ['{"x":["a","\\u0000"]}', "inputs.x[1]"], ['{"na\\u0000me":1}', "inputs"], ['"\\ud800"', "inputs"], ['{"x":{"\\udfff":1}}', "inputs.x"],
];
const accepted: Readonly<Record<string, string>> = {
  literal: "\\u0000", doubled: "\\\\u0000", controls: "\u0001\u0008\u000b\u001b\u007f\u0085\u009f", right: "\u202eevil\u2066x\u2069\u200f", emoji: "😀👩‍👩‍👧", separators: "\u2028\u2029", plane: "\u{10ffff}",
};
/** What the worker's node returns: the same, and what it puts in place of what cannot be held. */
const recorded = { nul: "a\uFFFDb", lone: "a\uFFFDb", literal: "\\u0000", controls: "\u0001\u0008\u001b\u007f\u009f", right: "\u202eevil\u2066\u200f", emoji: "😀", separators: "\u2028\u2029" };

defineCase({ id: "C45", title: "text that Postgres cannot hold is refused or replaced, everything else comes back byte for byte", fullMinutes: 1, scaledSeconds: 12 }, async (on) => {
  const fleet = await on.startFleet({ ...wireFleet });
  const url = `${fleet.apiUrl()}/runs`;
  const client = createClient({ url: fleet.apiUrl(), key: fleet.key });
  const create = (inputs: string) => askRaw({ url, key: fleet.key, body: `{"workflowId":"wire-echo","inputs":${inputs}}` });

  on.tell("as input");
  for (const [json, path] of refused) {
    const answer = await create(json);
    expect([json, answer.status, answer.json()["error"]]).toEqual([json, 400, "validation_error"]);
    expect((answer.json()["details"] as { field: string }).field).toContain(path);
  }
  for (const [name, text] of Object.entries(accepted)) {
    const given = { value: text, [text]: name };
    const answer = await create(JSON.stringify(given));
    expect([name, answer.status]).toEqual([name, 201]);
    const runId = String(answer.json()["runId"]);
    const { status, outputs } = await client.runs.result(runId);
    expect([name, status, outputs]).toEqual([name, "completed", given]);
    const poll = await askRaw({ url: `${url}/${projectId(runId)}/events/poll`, key: fleet.key });
    expect(Buffer.from(poll.text).includes(Buffer.from(JSON.stringify(text).slice(1, -1)))).toBe(true);
  }

  on.tell("as output, member name and log line");
  const said = await client.runs.create("wire-text", {});
  const { status, outputs } = await client.runs.result(said.runId);
  expect(status).toBe("completed");
  const { names, ...values } = outputs as Record<string, unknown> & { names: Record<string, string> };
  expect(values).toEqual(recorded);
  // two names that were different only in what cannot be held are one
  expect(Object.keys(names).sort()).toEqual([...new Set(Object.values(recorded))].sort());

  on.tell("thrown");
  for (const thrown of Object.keys(recorded)) {
    const { runId } = await client.runs.create("wire-text", { thrown });
    const ended = await client.runs.result(runId);
    expect([thrown, ended.status, ended.error?.details?.["code"]]).toEqual([thrown, "failed", "platform.unclassified"]);
    expect((await fleet.log(runId)).filter(({ type }) => type === "node.started")).toHaveLength(1);
  }

  on.tell("as the reason of a cancel, as a tag and in metadata");
  const held = (await client.runs.create("wire-wait", { delayMs: 600_000 })).runId;
  const nul = await askRaw({ url: `${url}/${projectId(held)}/cancel`, key: fleet.key, body: '{"reason":"a\\u0000b"}' });
  expect([nul.status, nul.json()["details"]]).toEqual([400, { field: "reason" }]);
  await client.runs.cancel(held);
  const cancelled = [held];
  for (const reason of Object.values(accepted)) {
    const { runId } = await client.runs.create("wire-wait", { delayMs: 600_000 }, { tags: [reason], metadata: { [reason]: reason } });
    const snapshot = await client.runs.get(runId);
    expect([snapshot.tags, snapshot.metadata]).toEqual([[reason], { [reason]: reason }]);
    await client.runs.cancel(runId, { reason });
    cancelled.push(runId);
    await fleet.waitEnded([runId]);
    expect((await fleet.log(runId)).at(-1)?.payload["reason"]).toBe(reason);
  }
  expect(new Set((await fleet.waitEnded(cancelled)).values())).toEqual(new Set(["cancelled"]));
  on.notRun("the note of a dead letter's resolution", "dead-letter recovery");
});
