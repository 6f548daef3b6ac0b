import { z } from "zod";

/** One finding of the doctor: what was looked at, how it stands, and the one next step when it does not. */
export const DoctorCheck = z
  .strictObject({
    name: z.string(),
    state: z.enum(["ok", "warning", "failed"]),
    seen: z.string(),
    next: z.string().optional(),
  })
  .meta({ id: "DoctorCheck" });
/** See the schema of the same name. */
export type DoctorCheck = z.infer<typeof DoctorCheck>;

/** The answer of `GET /ops/v1/doctor`. `ok` means that no check failed. */
export const DoctorResponse = z
  .strictObject({ ok: z.boolean(), checks: z.array(DoctorCheck) })
  .meta({ id: "DoctorResponse" });
/** See the schema of the same name. */
export type DoctorResponse = z.infer<typeof DoctorResponse>;
