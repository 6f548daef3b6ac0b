import { z } from "zod";

/** The body of `POST /runs/{runId}:pause`; may be absent altogether. */
export const PauseRunRequest = z
  .strictObject({
    reason: z.string().max(1024).optional(),
    /** `drain-current-node` (default): nodes under way finish, nothing new starts. `immediate`: they are cut. */
    drainPolicy: z.enum(["immediate", "drain-current-node"]).optional(),
  })
  .meta({ id: "PauseRunRequest" });
/** See the schema of the same name. */
export type PauseRunRequest = z.infer<typeof PauseRunRequest>;

/** `pausedAt` is absent while the run's holder still has to honour the pause: the log's `run.paused` tells when. */
export const PauseRunResponse = z
  .strictObject({ runId: z.string(), status: z.literal("paused"), pausedAt: z.iso.datetime().optional() })
  .meta({ id: "PauseRunResponse" });
/** See the schema of the same name. */
export type PauseRunResponse = z.infer<typeof PauseRunResponse>;

/** The body of `POST /runs/{runId}:resume`: nothing, or an empty object. */
export const ResumeRunRequest = z.strictObject({}).meta({ id: "ResumeRunRequest" });
/** See the schema of the same name. */
export type ResumeRunRequest = z.infer<typeof ResumeRunRequest>;

/** `running` is the protocol's word for "goes on"; the snapshot says what the run waits in. */
export const ResumeRunResponse = z
  .strictObject({ runId: z.string(), status: z.literal("running"), resumedAt: z.iso.datetime().optional() })
  .meta({ id: "ResumeRunResponse" });
/** See the schema of the same name. */
export type ResumeRunResponse = z.infer<typeof ResumeRunResponse>;
