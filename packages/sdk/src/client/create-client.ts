import type { BoundsResponse, Discovery, DoctorResponse, InstancesResponse } from "@mainstay/contract";
import { createRunsClient } from "./create-runs-client.js";
import type { RunsClient } from "./runs-client.js";
import { createTransport, type ClientOptions } from "./transport.js";

/** A typed client of one fleet, as one key. */
export type Client = Readonly<{
  runs: RunsClient;
  /** What the host says it serves; needs no key. */
  discovery: () => Promise<Discovery>;
  ops: Readonly<{
    bounds: () => Promise<BoundsResponse>;
    doctor: () => Promise<DoctorResponse>;
    instances: () => Promise<InstancesResponse>;
  }>;
}>;

/**
 * Makes a client. It holds no connection of its own and needs no closing.
 *
 * Error answers are thrown as `ClientError`, a missing answer as `Unreachable` once the retries are used up.
 */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);
  async function get<Answer>(path: string): Promise<Answer> {
    return (await transport.send({ method: "GET", path })).body as Answer;
  }
  return {
    runs: createRunsClient(transport),
    discovery: () => get<Discovery>("/.well-known/openwop"),
    ops: {
      bounds: () => get<BoundsResponse>("/ops/v1/bounds"),
      doctor: () => get<DoctorResponse>("/ops/v1/doctor"),
      instances: () => get<InstancesResponse>("/ops/v1/instances"),
    },
  };
}
