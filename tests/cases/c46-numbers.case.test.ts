import { projectId } from "@mainstay/contract";
import { createClient } from "@mainstay/sdk";
import { expect } from "vitest";
import { defineCase } from "./lane/define-case.js";
import { askRaw } from "./load/ask-raw.js";
import { openStream } from "./load/open-stream.js";
import { runCli } from "./load/run-cli.js";
import { wireFleet } from "./load/wire-fleet.js";

const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const refused: Readonly<Record<string, string>> = {
  "an integer beyond a double": "9007199254740993", "a negative one": "-9007199254740993", "an exponent beyond a double": "1e400", "a number below the smallest": "1e-400",
  "more digits than a double carries": "0.1000000000000000055", "ten thousand levels": deep(10_000), "members twice": '{"a":1,"a":2}', "__proto__": '{"__proto__":{"polluted":true}}',
  "__proto__ written with escapes": '{"\\u005f_proto__":{"polluted":true}}', "NaN": "NaN", "a leading zero": "01", "infinity": "-Infinity",
};
const accepted: readonly string[] = [
  "9007199254740992", "-9007199254740991", "1e21", "1E+21", "-0", "0.30000000000000004", "0.1", "1.7976931348623157e308", "5e-324", "100000000000000000000", "1.0", '"9007199254740993"',
  '{"constructor":{"prototype":1}}', deep(60),
];

defineCase({ id: "C46", title: "a number is exact on every surface or refused on every surface", fullMinutes: 1, scaledSeconds: 15 }, async (on) => {
  const fleet = await on.startFleet(wireFleet);
  const at = { url: fleet.apiUrl(), key: fleet.key };
  const client = createClient(at);
  const url = `${at.url}/runs`;
  const bodyOf = (value: string): string => `{"workflowId":"wire-echo","inputs":{"value":${value}}}`;

  on.tell("refused, by the api and by the command line");
  for (const [index, [name, value]] of Object.entries(refused).entries()) {
    const answer = await askRaw({ url, key: at.key, body: bodyOf(value) });
    expect([name, answer.status, answer.json()["error"]]).toEqual([name, 400, "validation_error"]);
    if (value.length > 1_000 || index % on.pick(1, 4) > 0) continue; // beyond what an argument is for; each is a process
    const said = await runCli(["run", "create", "wire-echo", "-i", `{"value":${value}}`], at);
    expect([name, said.status]).toEqual([name, 2]);
  }

  on.tell("exact, everywhere");
  for (const [index, value] of accepted.entries()) {
    const answer = await askRaw({ url, key: at.key, body: bodyOf(value) });
    expect([value.slice(0, 40), answer.status]).toEqual([value.slice(0, 40), 201]);
    const runId = String(answer.json()["runId"]);
    const expected: unknown = { value: withoutSign(JSON.parse(value)) };
    expect((await client.runs.result(runId)).outputs).toEqual(expected);
    const poll = await askRaw({ url: `${url}/${projectId(runId)}/events/poll`, key: at.key });
    const polled = (poll.json()["events"] as { type: string; payload: Record<string, unknown> }[]);
    const stream = openStream({ ...at, runId });
    expect(await stream.closed).toBe("ended");
    const followed: unknown[] = [];
    for await (const event of client.runs.events(runId)) followed.push(event);
    expect(stream.frames().map(({ data }) => data)).toEqual(polled);
    expect(followed).toEqual(polled);
    for (const type of ["node.completed", "run.completed"]) {
      expect(polled.find((event) => event.type === type)?.payload["outputs"]).toEqual(expected);
    }
    const [stored] = await fleet.sql<{ same: boolean }>("select input = $2::jsonb and outputs = $2::jsonb as same from runs where id = $1", [runId.slice(runId.indexOf("/") + 1), `{"value":${value}}`]);
    expect([value.slice(0, 40), stored?.same]).toEqual([value.slice(0, 40), true]);
    if (index % on.pick(1, 5) > 0) continue; // each is two processes
    const watched = await runCli(["run", "watch", runId, "-o", "ndjson"], at);
    expect(watched.status).toBe(0);
    expect(watched.out.trim().split("\n").map((line) => JSON.parse(line) as unknown)).toEqual(polled);
    const got = await runCli(["run", "get", runId, "--json"], at);
    expect(JSON.parse(got.out)).toEqual(await client.runs.get(runId));
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  const after = await askRaw({ url, key: at.key, body: bodyOf("{}") });
  expect((await client.runs.result(String(after.json()["runId"]))).outputs).toEqual({ value: {} });
  on.notRun("webhook", "webhooks");
  on.notRun("replay", "dead-letter recovery");
});

/** Zero has no sign in the log: JSON's −0 is the number 0. */
function withoutSign(value: unknown): unknown {
  return value === 0 ? 0 : value;
}
