import fc from "fast-check";

const deep = (open, close) => open.repeat(10_000) + close.repeat(10_000);
/** Texts that are no ordinary JSON document. */
const odd = [
  "", " ", "null", "true", "[]", "\"\"", "0", "{", "}", "{}}", "{\"a\":}", "{'a':1}", "{\"a\":1,}", "nul", "NaN", "\uFEFF{}", "{}\u0000", "undefined", "[".repeat(64),
  deep("[", "]"), deep("{\"a\":", "}").replace("}", "1}"), "1e400", "-0", "{\"workflowId\":1e400}", "\"\\ud800\"", "\"\\u0000\"", `"${"x".repeat(70_000)}"`,
];
/** Values in the place of a member's own. */
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(null, "", [], {}, -1, 0, 2 ** 53, 1e308, -1e308, true, "\u0000", "\ud800", "x".repeat(5_000), "../../etc", "💥", "null", "{}"),
  fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom(...["__proto__", "constructor", "toString", "hasOwnProperty"]),
);

/** Ways to spoil a body: each takes the value and answers the bytes to send. */
export const spoilBody = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...odd).map((text) => () => Buffer.from(text)) },
  { weight: 4, arbitrary: fc.tuple(fc.nat(), values).map(([at, value]) => (body) => encode(withMember(body, at, value))) },
  { weight: 2, arbitrary: fc.nat().map((at) => (body) => encode(withMember(body, at, undefined))) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom("x", "filter", "__proto__", "constructor", "", "\u0000", "runId", "tenantId", "inputs"), values).map(([name, value]) => (body) => Buffer.from(withDuplicate(body, name, value))) },
  { weight: 2, arbitrary: fc.nat().map((at) => (body) => { const bytes = encode(body); return bytes.subarray(0, at % (bytes.length + 1)); }) },
  { weight: 2, arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 })).map(([at, bytes]) => (body) => { const own = encode(body); const cut = at % (own.length + 1); return Buffer.concat([own.subarray(0, cut), bytes, own.subarray(cut)]); }) },
  { weight: 1, arbitrary: fc.constantFrom("9007199254740993", "0.1000000000000000055511151231257827", "1e-400", "-0", "01", "1.", ".5", "+1", "1e999").map((number) => (body) => Buffer.from(JSON.stringify({ ...asObject(body), inputs: "#" }).replace("\"#\"", `{"n":${number}}`))) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => () => encode(value)) },
);

const encode = (value) => Buffer.from(JSON.stringify(value) ?? "");
const asObject = (value) => (typeof value === "object" && value !== null ? value : {});

/** The body with one member, wherever it stands, in another shape; `undefined` leaves it out. */
function withMember(body, at, value) {
  const names = Object.keys(asObject(body));
  if (names.length === 0) return value ?? null;
  const name = names[at % names.length];
  if (value !== undefined && at % 3 === 0 && typeof body[name] === "object" && body[name] !== null) return { ...body, [name]: withMember(body[name], at >> 2, value) };
  return { ...body, [name]: value };
}

/** The body's text with one member more, which may stand there already. */
function withDuplicate(body, name, value) {
  const text = JSON.stringify(asObject(body));
  const member = `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`;
  return text === "{}" ? `{${member}}` : `${text.slice(0, -1)},${member}}`;
}
