import { request } from "node:http";
import { projectId, type RunEvent } from "@mainstay/contract";

/** A stream of a run's log on a connection of its own. */
export type OpenStream = Readonly<{
  /** Resolves with the status once the head of the answer is there; rejects when none comes. */
  status: Promise<number>;
  /** Every event frame so far, in the order of arrival. */
  frames: () => readonly Readonly<{ id: number; event: string; data: RunEvent; at: number }>[];
  /** Settles when the connection is over, by whomever; `ended` when the server closed it in order. */
  closed: Promise<"ended" | "cut">;
  /** Breaks the connection off. */
  drop: () => void;
}>;

/** Opens it; `after` is the `Last-Event-ID`. */
export function openStream({ url, key, runId, after, mode = "debug" }: { url: string; key: string; runId: string; after?: number | string; mode?: string }): OpenStream {
  const frames: { id: number; event: string; data: RunEvent; at: number }[] = [];
  const asking = request(`${url}/runs/${projectId(runId)}/events?streamMode=${mode}`, {
    agent: false,
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream", ...(after === undefined ? {} : { "last-event-id": String(after) }) },
  });
  let ended = false;
  let rest = "";
  const status = new Promise<number>((resolve, reject) => {
    asking.once("error", reject);
    asking.once("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.setEncoding("utf8");
      response.on("error", () => undefined);
      response.on("end", () => { ended = response.complete; });
      response.on("data", (chunk: string) => {
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) if (part.startsWith("id:")) frames.push({ ...read(part), at: Date.now() });
      });
    });
  });
  status.catch(() => undefined);
  const closed = new Promise<"ended" | "cut">((resolve) => asking.once("close", () => { resolve(ended ? "ended" : "cut"); }));
  asking.on("error", () => undefined);
  asking.end();
  return { status, frames: () => frames, closed, drop: () => { asking.destroy(); } };
}

function read(frame: string): { id: number; event: string; data: RunEvent } {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1] ?? "";
  return { id: Number(field("id")), event: field("event"), data: JSON.parse(field("data")) as RunEvent };
}
