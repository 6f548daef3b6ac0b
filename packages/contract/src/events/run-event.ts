import { z } from "zod";
import { DefinitionId, EventId } from "../ids/grammars.js";
import { eventPayloads, type EventPayload, type EventType } from "./payloads.js";

const eventTypes = Object.keys(eventPayloads) as [EventType, ...EventType[]];

/** One event of a run's log: a closed envelope; `sequence` is dense from 0. The payload is checked by type apart. */
export const RunEvent = z
  .strictObject({
    eventId: EventId,
    runId: z.string(),
    type: z.enum(eventTypes),
    payload: z.record(z.string(), z.unknown()),
    timestamp: z.iso.datetime(),
    sequence: z.number().int().min(0),
    schemaVersion: z.number().int().min(1),
    nodeId: DefinitionId.optional(),
    engineVersion: z.number().int().optional(),
    causationId: z.string().optional(),
  })
  .meta({ id: "RunEvent" });

/** An event with the payload that belongs to its type: switch on `type`. */
export type RunEvent = {
  [Type in EventType]: Omit<z.infer<typeof RunEvent>, "type" | "payload"> & {
    type: Type;
    payload: EventPayload<Type>;
  };
}[EventType];

/**
 * Checks envelope and payload of one event together.
 * @returns the event, or the first thing that is wrong with it, with its path.
 */
export function parseRunEvent(value: unknown): { event: RunEvent } | { wrong: string } {
  const envelope = RunEvent.safeParse(value);
  if (!envelope.success) return { wrong: describe(envelope.error, []) };
  const payload = eventPayloads[envelope.data.type].safeParse(envelope.data.payload);
  if (!payload.success) return { wrong: describe(payload.error, ["payload"]) };
  return { event: envelope.data as RunEvent };
}

function describe(error: z.ZodError, prefix: PropertyKey[]): string {
  const issue = error.issues[0];
  if (issue === undefined) return "not an event";
  return `${[...prefix, ...issue.path].map(String).join(".")}: ${issue.message}`;
}
