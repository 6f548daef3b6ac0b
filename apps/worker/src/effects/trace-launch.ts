import { NotApplied, type EffectCall } from "@mainstay/sdk";
import type { Tracing } from "@mainstay/telemetry";
import type { EffectRequest } from "./effect-parts.js";

/**
 * Makes the one request of a launch within its span. The span's context is handed to the launch only when the effect
 * says `propagateTrace`: ids of ours leave to nobody who was not named. Without tracing, just makes the request.
 */
export async function traceLaunch<Result>(
  tracing: Tracing | undefined, { key, options }: Pick<EffectRequest<Result>, "key" | "options">,
  { call, launch }: { call: EffectCall; launch: (call: EffectCall) => Result | Promise<Result> },
): Promise<Result> {
  if (tracing === undefined) return launch(call);
  const span = tracing.effect({
    key, effectClass: options.class ?? "non_idempotent_write", destination: options.destination, launch: call.launch,
  });
  try {
    const answer = await span.within(() => launch(options.propagateTrace === true ? { ...call, traceparent: span.traceparent } : call));
    span.end({ outcome: "answered" });
    return answer;
  } catch (thrown) {
    span.end({ errorType: NotApplied.is(thrown) ? "not_applied" : "no_answer" });
    throw thrown;
  }
}
