import { z } from "zod";
import { RunStatus } from "../runs/run-status.js";
import { RunEvent } from "./run-event.js";

/** Query of `GET /runs/{runId}/events/poll`: `afterSequence` is exclusive, `timeout` is in seconds. */
export const PollEventsQuery = z
  .object({
    afterSequence: z.coerce.number().int().min(0).max(2_147_483_647).optional(),
    timeout: z.coerce.number().int().min(1).max(60).default(30),
  });
/** See the schema of the same name. */
export type PollEventsQuery = z.infer<typeof PollEventsQuery>;

/** The whole tail of a log, debug tier included; `lastSequence` is −1 while the log is empty. */
export const PollEventsResponse = z
  .strictObject({
    runId: z.string(),
    events: z.array(RunEvent),
    lastSequence: z.number().int().min(-1),
    status: RunStatus,
    isTerminal: z.boolean(),
  })
  .meta({ id: "PollEventsResponse" });
/** See the schema of the same name. */
export type PollEventsResponse = Omit<z.infer<typeof PollEventsResponse>, "events"> & { events: RunEvent[] };

/** Query of `GET /runs/{runId}/events`. `streamMode` is judged apart, for it has an error code of its own. */
export const StreamEventsQuery = z
  .object({
    streamMode: z.string().default("updates"),
    /** Milliseconds to collect frames into one `event: batch`. */
    bufferMs: z.coerce.number().int().min(0).max(5000).default(0),
  });
/** See the schema of the same name. */
export type StreamEventsQuery = z.infer<typeof StreamEventsQuery>;
