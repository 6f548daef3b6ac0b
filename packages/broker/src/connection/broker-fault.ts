/** What kind of trouble the broker makes. */
export type BrokerFault = (typeof brokerFaults)[number];

/** The closed set of kinds. */
export const brokerFaults = ["connection", "timed_out", "read_only", "no_replicas", "out_of_memory", "busy", "loading", "denied", "moved", "other"] as const;

const byReply: Readonly<Record<string, BrokerFault | undefined>> = {
  READONLY: "read_only", NOREPLICAS: "no_replicas", OOM: "out_of_memory", BUSY: "busy", LOADING: "loading", MASTERDOWN: "read_only",
  NOAUTH: "denied", NOPERM: "denied", WRONGPASS: "denied", MOVED: "moved", ASK: "moved", CLUSTERDOWN: "moved", TRYAGAIN: "moved", UNBLOCKED: "read_only",
};

/** The kind of a failure, by the first word of what the server answered, else by what became of the connection. */
export function brokerFault(error: unknown): BrokerFault {
  const message = error instanceof Error ? error.message : String(error);
  const known = byReply[/^[A-Z]+/.exec(message)?.[0] ?? ""];
  if (known !== undefined) return known;
  if (/timed out|timeout/i.test(message)) return "timed_out";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^E[A-Z_]+$/.test(code) || /connection is closed|isn.t writeable|max retries per request|ECONN|socket|the broker is away/i.test(message) ? "connection" : "other";
}
