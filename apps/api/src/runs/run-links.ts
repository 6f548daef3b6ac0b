import { projectId, type CreateRunResponse } from "@mainstay/contract";

/** The answer of a created run: status as accepted, links relative and projected. Members in a fixed order. */
export function createdAnswer(runId: string): CreateRunResponse {
  const path = `/runs/${projectId(runId)}`;
  return { runId, status: "pending", eventsUrl: `${path}/events`, statusUrl: path };
}
