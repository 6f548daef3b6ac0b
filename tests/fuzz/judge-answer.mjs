/** What HTTP itself may answer to a request whose head or framing is odd, whatever it asks for. */
const ofHttp = new Set([400, 404, 405, 406, 408, 411, 413, 414, 415, 417, 426, 431]);
/** After these nothing need be answered: the request never arrived whole. */
const unfinished = new Set(["torn", "too long", "no end of head"]);

/** Answers what is wrong with an answer, in words; empty: nothing. `api` is what `readApi` told, `foreign` texts of another workspace. */
export function judgeAnswer({ request, answer, api, foreign }) {
  const { operation, sure, framing, bytes } = request;
  const { status, headers, body, late } = answer;
  const faults = [];
  if (late) return [`no answer within ${String(Math.round(answer.ms))} ms`];
  if (status === undefined) return unfinished.has(framing) ? [] : ["the connection ended without an answer"];
  if (status >= 500) faults.push(`a ${String(status)}`);
  const described = sure && framing === "whole" ? operation.answers : new Map(api.operations.flatMap(({ answers }) => [...answers]));
  const generic = !request.unspoiled && ofHttp.has(status);
  if (!described.has(status) && !generic) faults.push(`${String(status)} is not described for ${operation.operationId}`);
  const isHead = bytes.subarray(0, 5).toString("latin1") === "HEAD ";
  if (status >= 400 && !isHead) faults.push(...judgeError(body, headers, api));
  else if (status < 300 && sure && framing !== "twice" && !isHead) faults.push(...judgeSuccess(operation.answers.get(status), { headers, body }));
  for (const text of foreign) if (body.includes(text) && !bytes.includes(text)) faults.push("something of another workspace is told");
  return faults;
}

function judgeError(body, headers, { isError }) {
  if (!/^application\/json/.test(headers.get("content-type") ?? "")) return [`an error is told as ${headers.get("content-type") ?? "nothing"}: ${body.slice(0, 80)}`];
  try {
    return isError(JSON.parse(body)) ? [] : [`the error is no error envelope: ${body.slice(0, 200)}`];
  } catch {
    return [`the error is no JSON: ${body.slice(0, 80)}`];
  }
}

function judgeSuccess(check, { headers, body }) {
  if (check === undefined || !/^application\/json/.test(headers.get("content-type") ?? "")) return [];
  try {
    return check(JSON.parse(body)) ? [] : [`the body is not as described: ${(check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).slice(0, 3).join("; ")}`];
  } catch {
    return [`the body is no JSON: ${body.slice(0, 80)}`];
  }
}
