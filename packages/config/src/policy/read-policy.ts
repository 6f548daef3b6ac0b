import { readFileSync } from "node:fs";
import { parseDocument } from "yaml";
import { policySchema, type Policy } from "./policy.js";

/** A policy, or every problem of its file with the place it stands at. */
export type PolicyRead = { ok: true; policy: Policy } | { ok: false; problems: string[] };

/** Parses the text of a `policy.yaml`. An empty text is the default policy; an unknown key is refused. */
export function parsePolicy(text: string): PolicyRead {
  const document = parseDocument(text, { prettyErrors: true, strict: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    return { ok: false, problems: document.errors.map((error) => `policy.yaml: ${error.message.split("\n")[0] ?? error.code}`) };
  }
  const content: unknown = document.toJS({ maxAliasCount: 50 });
  const parsed = policySchema.safeParse(content ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `policy.yaml, ${issue.path.join(".") || "top"}: ${issue.message}`);
    return { ok: false, problems };
  }
  const { stalled_run_escalation: stall, handler_retry_base_seconds: base } = parsed.data.runtime;
  return {
    ok: true,
    policy: Object.freeze({
      stallEscalation: stall.enabled,
      stallThresholdMs: stall.threshold_seconds * 1_000,
      retryBaseMs: Math.round(base * 1_000),
    }),
  };
}

/** Reads `policy.yaml` at `path`; without a path the defaults hold. A file that cannot be read is a problem, never the defaults. */
export function readPolicy(path: string | undefined): PolicyRead {
  if (path === undefined) return parsePolicy("");
  try {
    return parsePolicy(readFileSync(path, "utf8"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { ok: false, problems: [`MAINSTAY_POLICY_FILE: expected a readable file, reading it failed with ${code}`] };
  }
}
