import fc from "fast-check";

const anyBytes = fc.string({ unit: "binary-ascii", maxLength: 60 }).map((text) => text.replace(/[\r\n\0]/g, " "));
const header = (name, ...texts) => fc.oneof(fc.constantFrom(...texts), anyBytes).map((value) => (request) => ({ ...request, headers: [...request.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase()), [name, value]] }));
const again = (name, value) => fc.constant((request) => ({ ...request, headers: [...request.headers, [name, value]] }));
const path = (...texts) => fc.constantFrom(...texts).map((text) => (request) => ({ ...request, target: request.target.includes("{}") ? request.target.replace("{}", text) : `${request.target}${text}` }));
const query = (...texts) => fc.constantFrom(...texts).map((text) => (request) => ({ ...request, target: `${request.target}${request.target.includes("?") ? "&" : "?"}${text}` }));

/** Ways to spoil what stands before the body: each takes a request and answers another. */
export const spoilHead = fc.oneof(
  { weight: 3, arbitrary: header("Authorization", "", "Bearer", "Bearer ", "Bearer mst_x", `Bearer mst_${"0".repeat(16)}_${"A".repeat(43)}`, "Basic YTpi", "bearer x y z", `Bearer ${"a".repeat(4_000)}`) },
  { weight: 3, arbitrary: header("Idempotency-Key", "", "short", "x".repeat(129), "é".repeat(30), "a b c d e f g h i j k l m n o", "'; drop table runs; --aaaaaaaaaa") },
  { weight: 2, arbitrary: header("OpenWOP-Version", "", "1", "3", "2.0", "2", "two", "2.0.0.0", "-2", "1e9", "2,2") },
  { weight: 2, arbitrary: header("OpenWOP-Dedup", "", "enforce", "Enforce", "none", "1") },
  { weight: 2, arbitrary: header("traceparent", "", "00-0-0-00", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`, `ff-${"a".repeat(32)}-${"b".repeat(16)}-zz`, "00".repeat(500)) },
  { weight: 2, arbitrary: header("If-None-Match", "", "*", "\"x\"", "W/\"", "\"\",,\"", "\"".repeat(300)) },
  { weight: 2, arbitrary: header("Last-Event-ID", "", "-1", "1e3", "0x10", "99999999999999999999", "NaN", "0 ", "acme/x:1") },
  { weight: 2, arbitrary: header("Content-Type", "", "text/plain", "application/json;charset=latin1", "application/json; charset=\"utf-8\"", "application/x-www-form-urlencoded", "multipart/form-data", "application/json,application/json", "/") },
  { weight: 1, arbitrary: header("Content-Encoding", "gzip", "br", "identity", "x") },
  { weight: 1, arbitrary: header("Accept", "text/html", "*/*;q=0", "", "application/xml") },
  { weight: 1, arbitrary: header("Expect", "100-continue", "200-ok", "") },
  { weight: 1, arbitrary: header("X-Request-Id", "", "<script>", "x".repeat(3_000)) },
  { weight: 1, arbitrary: header("Host", "", "a b", "x:99999", "[::1", "evil.example") },
  { weight: 1, arbitrary: fc.oneof(again("Authorization", "Bearer x"), again("Content-Length", "5"), again("Host", "b"), again("Transfer-Encoding", "chunked"), again("Transfer-Encoding", "gzip"), again("Idempotency-Key", "a".repeat(30)), again("Content-Type", "text/plain")) },
  { weight: 1, arbitrary: fc.constantFrom(20, 120, 2_100).map((count) => (request) => ({ ...request, headers: [...request.headers, ...Array.from({ length: count }, (_, at) => [`X-${String(at)}`, "y".repeat(10)])] })) },
  { weight: 1, arbitrary: fc.constant((request) => ({ ...request, headers: [...request.headers, ["X-Long", "y".repeat(70_000)]] })) },
  { weight: 5, arbitrary: path("", "x", "%00", "%ff", "%", "%2", "..", "..%2f..", "alpha/x", "alpha~2F", "~", "~2", "a".repeat(3_000), "alpha~2F01900000-0000-7000-8000-000000000000", "beta~2F01900000-0000-7000-8000-000000000000", "01900000-0000-7000-8000-000000000000", "alpha%2F01900000-0000-7000-8000-000000000000", "\u00e9", "null", "{runId}", ":pause", "%3Apause", "alpha~2FG", ";", "?", "#", "//", "alpha~2f01900000-0000-7000-8000-00000000000Z") },
  { weight: 4, arbitrary: query("limit=0", "limit=-1", "limit=1e3", "limit=100000", "limit=", "limit=1&limit=2", "limit[]=1", "cursor=x", "cursor=%00", "cursor=eyJhIjoxfQ", "workflowId=%ff", "status=all", "status=pending&status=failed", "afterSequence=-1", "afterSequence=1.5", "afterSequence=9007199254740993", "timeout=0", "timeout=61", "timeout=x", "streamMode=all", "streamMode=events,events", "bufferMs=-1", "bufferMs=1e9", "__proto__=1", "=", "&&&", "a".repeat(5_000), "%E0%A4%A") },
  { weight: 1, arbitrary: fc.constantFrom("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "POST", "GET", "PROPFIND", "get").map((method) => (request) => ({ ...request, method })) },
  { weight: 1, arbitrary: fc.constantFrom("torn", "too short", "too long", "bad chunk", "no end of head", "old", "twice").map((framing) => (request) => ({ ...request, framing })) },
);
