import fc from "fast-check";
import { fromSchema } from "./from-schema.mjs";
import { spoilBody } from "./spoil-body.mjs";
import { spoilHead } from "./spoil-head.mjs";

/** A long poll holds a lane of the fuzz for so many seconds at most; longer ones are only asked for where they are refused. */
const longestPollS = 1;

/**
 * The requests of an api, as an arbitrary: `{ operation, sure, unspoiled, bytes, framing }`. `sure`: its method and path
 * are the operation's own. `runIds` are runs of the workspace of `key`, in the projection of a path segment.
 */
export function makeRequests({ operations, key, runIds }) {
  return fc.constantFrom(...operations).chain((operation) => fc.record({
    operation: fc.constant(operation),
    runId: fc.constantFrom(...runIds),
    query: queryOf(operation),
    headers: headersOf(operation),
    body: operation.body === undefined ? fc.constant(undefined) : bodyOf(operation, runIds),
    spoilsBody: operation.body === undefined ? fc.constant([]) : fc.array(spoilBody, { maxLength: 1 }),
    spoilsHead: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: fc.array(spoilHead, { minLength: 1, maxLength: 2 }) }),
  })).map(({ operation, runId, query, headers, body, spoilsBody, spoilsHead }) => {
    const own = { method: operation.method, target: `${operation.path.replace("{runId}", "{}")}${query}`, headers, framing: "whole" };
    const request = spoilsHead.reduce((one, spoil) => spoil(one), { ...own, headers: [["Authorization", `Bearer ${key}`], ...headers] });
    const payload = body === undefined ? undefined : spoilsBody.reduce((_, spoil) => spoil(body), Buffer.from(JSON.stringify(body)));
    const sure = request.method === own.method && request.target.split("?")[0] === own.target.split("?")[0];
    return {
      operation, sure, unspoiled: spoilsBody.length + spoilsHead.length === 0, framing: request.framing,
      bytes: encode({ ...request, target: request.target.replaceAll("{}", runId) }, payload),
    };
  });
}

function queryOf({ parameters }) {
  const named = parameters.filter((one) => one.in === "query");
  return fc.tuple(...named.map(({ name, schema }) => fc.option(name === "timeout" ? fc.integer({ min: 0, max: longestPollS }) : fromSchema(schema), { freq: 1 })
    .map((value) => (value === null ? undefined : `${name}=${encodeURIComponent(String(value))}`)))).map((pairs) => {
    const given = pairs.filter((pair) => pair !== undefined);
    // a poll that says nothing waits for long
    if (named.some(({ name }) => name === "timeout") && !given.some((pair) => pair.startsWith("timeout="))) given.push(`timeout=${String(longestPollS)}`);
    return given.length === 0 ? "" : `?${given.join("&")}`;
  });
}

function headersOf({ parameters }) {
  const known = { "Idempotency-Key": fc.uuid(), "OpenWOP-Version": fc.constant("2.0"), "OpenWOP-Dedup": fc.constant("enforce"), "Last-Event-ID": fc.nat(5).map(String), "If-None-Match": fc.constant("\"x\"") };
  const named = parameters.filter((one) => one.in === "header" && one.name in known);
  return fc.tuple(...named.map(({ name }) => fc.option(known[name], { freq: 1 }).map((value) => (value === null ? undefined : [name, value])))).map((pairs) => pairs.filter((pair) => pair !== undefined));
}

/** Bodies of the schema; most name a workflow and runs that there are. */
function bodyOf({ operationId, body }, runIds) {
  const any = fromSchema(body);
  const sane = {
    createRun: fc.record({ workflowId: fc.constantFrom("conformance-noop", "conformance-identity", "conformance-failure"), inputs: fc.constant({}), tags: fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 3 }), metadata: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.string({ maxLength: 9 }), { maxKeys: 2 }) }, { requiredKeys: ["workflowId"] }),
    forkRun: fc.record({ mode: fc.constantFrom("replay", "branch"), fromSeq: fc.nat(6) }, { requiredKeys: ["mode"] }),
    bulkCancelRuns: fc.subarray(runIds.map((id) => id.replace("~2F", "/")), { minLength: 1 }).map((ids) => ({ runIds: ids })),
  }[operationId];
  return sane === undefined ? any : fc.oneof({ weight: 1, arbitrary: any }, { weight: 3, arbitrary: sane });
}

function encode({ method, target, headers, framing }, payload) {
  const has = (name) => headers.some(([known]) => known.toLowerCase() === name);
  const body = payload ?? Buffer.alloc(0);
  const length = { "too short": Math.max(0, body.length - 3), "too long": body.length + 20 }[framing] ?? body.length;
  const chunked = framing === "bad chunk";
  const lines = [
    `${method} ${target.replace(/[\s\u0080-\uffff]/g, (char) => encodeURI(char))} HTTP/1.${framing === "old" ? "0" : "1"}`,
    ...(has("host") ? [] : ["Host: fuzz"]), ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(payload === undefined || has("content-type") ? [] : ["Content-Type: application/json"]),
    ...(chunked ? ["Transfer-Encoding: chunked"] : payload === undefined && length === 0 ? [] : [`Content-Length: ${String(length)}`]), "Connection: close",
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n${framing === "no end of head" ? "" : "\r\n"}`, "latin1");
  const sent = chunked ? Buffer.from("zz\r\n{}\r\n0\r\n\r\n") : framing === "torn" ? body.subarray(0, Math.floor(body.length / 2)) : body;
  const whole = Buffer.concat([head, sent]);
  return framing === "twice" ? Buffer.concat([whole, whole]) : whole;
}
