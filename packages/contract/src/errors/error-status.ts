/**
 * Every code the API may answer with, and its one HTTP status. Registered protocol codes bear the protocol's status;
 * ours bear the `mainstay.` prefix. Only `apps/api` turns a refusal into a status, and only by this map.
 */
export const errorStatus = {
  validation_error: 400,
  idempotency_key_invalid: 400,
  unsupported_stream_mode: 400,
  protocol_version_mismatch: 400,
  unauthenticated: 401,
  credential_revoked: 401,
  forbidden: 403,
  run_forbidden: 403,
  id_tenant_mismatch: 403,
  force_engine_version_forbidden: 403,
  not_found: 404,
  protocol_version_unsupported: 406,
  run_already_active: 409,
  run_terminal: 409,
  run_state_conflict: 409,
  idempotency_key_mismatch: 409,
  idempotency_in_flight: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  fork_point_invalid: 422,
  capability_required: 422,
  capability_not_provided: 422,
  node_config_invalid: 422,
  run_timeout: 422,
  client_version_unsupported: 426,
  rate_limited: 429,
  internal_error: 500,
  event_type_unmapped: 500,
  payload_unprojectable: 500,
  runner_unavailable: 503,
  service_unavailable: 503,
  "mainstay.method_not_allowed": 405,
  "mainstay.request_timeout": 408,
  "mainstay.headers_too_large": 431,
} as const satisfies Record<string, number>;

/** A code the API may answer with. */
export type ErrorCode = keyof typeof errorStatus;

/** Whether a text is a code the API may answer with. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorStatus, code);
