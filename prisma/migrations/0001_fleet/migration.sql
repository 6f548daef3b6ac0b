-- The fleet's first shape. Old code sees nothing: there is none.
--
-- Words: docs/states.md. Rules: the columns that close an interleaving are named beside it.

-- ---- roles -------------------------------------------------------------------------------------------
-- The login of DATABASE_URL is a member of both. Engine statements carry the workspace in their own where;
-- reads of the api run as mainstay_read, under forced row-level security.
do $$
declare
  r text;
begin
  foreach r in array array['mainstay_engine', 'mainstay_read'] loop
    begin
      if not exists (select from pg_roles where rolname = r) then execute format('create role %I nologin', r); end if;
    exception when duplicate_object or unique_violation then null; -- roles belong to the server: another database made it
    end;
    if not pg_has_role(current_user, r, 'member') then execute format('grant %I to %I', r, current_user); end if;
  end loop;
end $$;

-- ---- workspaces and keys -----------------------------------------------------------------------------
create table workspaces (
  slug text primary key check (slug ~ '^[A-Za-z0-9._-]{1,64}$'),
  created_at timestamptz not null default now()
);

create table api_keys (
  key_id text primary key check (key_id ~ '^[A-Za-z0-9]{8,64}$'),
  workspace text not null references workspaces (slug),
  name text not null,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_workspace on api_keys (workspace);

-- ---- workflows: pinned by the hash of their document -------------------------------------------------
create table workflow_specs (
  spec_hash text primary key,
  workflow_id text not null,
  version text not null,
  document jsonb not null,
  requires text not null,
  registered_at timestamptz not null default now()
);
create index workflow_specs_current on workflow_specs (workflow_id, registered_at desc);

-- What a worker must have to serve a run: its pool and every capability. A key nobody serves is diagnosed.
create table requirements (
  key text primary key,
  pool text not null,
  capabilities text[] not null,
  ordinal bigint generated always as identity
);

-- ---- runs --------------------------------------------------------------------------------------------
create table runs (
  id uuid primary key,
  workspace text not null,
  workflow_id text not null,
  spec_hash text not null,
  pool text not null,
  requires text not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'paused', 'waiting-approval',
    'waiting-input', 'waiting-external', 'cancelling', 'completed', 'failed', 'cancelled')),
  waiting_on text check (waiting_on in ('dispatch', 'timer', 'retry', 'capacity', 'reconciliation', 'event', 'effect',
    'approval', 'input')),
  waiting_reason text,
  -- what was accepted
  input jsonb not null,
  input_digest bytea not null,
  subject jsonb not null,
  tags text[],
  metadata jsonb,
  configurable jsonb,
  scope_id text,
  dedup boolean not null default false,
  traceparent text,
  -- times, all of them the database's
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  due_at timestamptz not null default now(),
  sweep_at timestamptz not null,          -- from here on any worker with a free slot may take it without a ticket
  deadline_at timestamptz,
  run_timeout_ms bigint,
  -- the hold: owner is an incarnation, fence rises with every claim and every release, era with a new timeline
  owner uuid,
  fence bigint not null default 0,
  era integer not null default 1,
  claim_id uuid,                          -- identity of the claim, minted before its first try: a repeat answers the same
  claimed_at timestamptz,
  -- progress
  next_nodes text[] not null,             -- open nodes: ready or begun, not settled
  next_types text[] not null,             -- their type ids, in the same order
  event_seq integer not null default 0,   -- events appended so far = the next sequence
  checkpoint_no integer not null default 0,
  write_id uuid,                          -- identity of the holder's last write: a repeat answers the same
  -- mirrors, so that a guard reads only the row it locks
  open_effects integer not null default 0 check (open_effects >= 0),
  inbox_seq integer not null default 0,
  stop_requested text check (stop_requested in ('cancel', 'pause')),
  stop_reason text,
  stop_by text,
  stop_at timestamptz,
  waiting_effect uuid,
  -- counters
  claims integer not null default 0,
  crashes integer not null default 0,
  losses integer not null default 0,
  hand_backs integer not null default 0,
  stale_losses integer not null default 0,      -- since the last checkpoint
  stale_hand_backs integer not null default 0,  -- since the last checkpoint
  stale_deaths integer not null default 0,      -- losses of any kind since the last checkpoint
  cohort_limit integer check (cohort_limit >= 1), -- at most so many runs in one process, this one included
  suspicion_used boolean not null default false,
  -- the last loss, told by the next claim
  lost_trigger text check (lost_trigger in ('never_dispatched', 'message_lost', 'session_lost', 'heartbeat_expired',
    'loop_wedged', 'handed_back', 'mislaid')),
  lost_owner uuid,
  lost_at timestamptz,
  -- lineage
  lineage uuid not null,
  replay_of uuid,
  replay_of_dead_letter uuid,
  forked_from uuid,
  fork_seq integer,
  chain_depth integer not null default 0 check (chain_depth between 0 and 50),
  -- the ending
  outputs jsonb,
  error jsonb,
  failed_node text,
  constraint runs_holder_runs check (owner is null or status = 'running'),
  constraint runs_ended check ((status in ('completed', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint runs_unheld_waits check (status <> 'running' or owner is not null or waiting_on is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index runs_workspace on runs (workspace, id desc);
create index runs_owner on runs (owner) where owner is not null;
create index runs_claimable on runs (requires, sweep_at)
  where owner is null and status in ('pending', 'running', 'waiting-external') and stop_requested is null;
create index runs_stops on runs (stop_at) where stop_requested is not null
  and status not in ('completed', 'failed', 'cancelled', 'paused');
create index runs_deadline on runs (deadline_at) where deadline_at is not null
  and status not in ('completed', 'failed', 'cancelled');
create index runs_waiting_effect on runs (waiting_effect) where waiting_effect is not null;
-- I13: at most one live run per lineage (an original is terminal before anything of it is replayed)
create unique index runs_live_lineage on runs (lineage)
  where replay_of is not null and status not in ('completed', 'failed', 'cancelled');
create unique index runs_live_scope on runs (workspace, workflow_id, scope_id)
  where dedup and status not in ('completed', 'failed', 'cancelled');

create table run_nodes (
  run_id uuid not null,
  node_id text not null,
  workspace text not null,
  status text not null check (status in ('started', 'suspended', 'retry', 'completed', 'failed', 'skipped', 'cancelled')),
  attempts integer not null default 0,    -- executions that began, written before the code runs, never lowered
  failures integer not null default 0,    -- settled failed attempts: the only number compared with the retry bound
  asks integer not null default 0,        -- questions put to a reconciler within the open attempt
  continued boolean not null default false, -- the present execution goes on with a suspended attempt
  fence bigint not null,
  started_at timestamptz not null default now(),
  due_at timestamptz,
  waiting_effect uuid,                    -- the effect whose settlement makes it due
  settled_at timestamptz,
  output jsonb,
  error jsonb,
  history jsonb not null default '[]',    -- one entry per settled failed attempt
  primary key (run_id, node_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create table run_events (
  run_id uuid not null,
  seq integer not null check (seq >= 0),
  workspace text not null,
  event_id uuid not null default gen_random_uuid(),
  type text not null,
  node_id text,
  fence bigint not null,
  payload jsonb not null,
  at timestamptz not null default now(),
  primary key (run_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.1);
create unique index run_events_one_end on run_events (run_id)
  where type in ('run.completed', 'run.failed', 'run.cancelled');

-- ---- outbox and idempotency --------------------------------------------------------------------------
create table outbox (
  seq bigint generated always as identity primary key,
  topic text not null default 'dispatch' check (topic in ('dispatch')),
  run_id uuid not null,
  pool text not null,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  taken_by uuid,
  taken_at timestamptz,
  tries integer not null default 0,
  last_error text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index outbox_due on outbox (due_at);

create table idempotency_records (
  workspace text not null,
  operation text not null,
  key text not null,
  body_digest bytea not null,
  run_id uuid,
  status integer not null,
  body jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,                 -- null: lives until 24 h after the end of its run
  primary key (workspace, operation, key)
);
create index idempotency_records_expiry on idempotency_records (expires_at) where expires_at is not null;
create index idempotency_records_run on idempotency_records (run_id) where run_id is not null;

-- ---- effects: the ledger -----------------------------------------------------------------------------
create table effects (
  id uuid primary key,
  workspace text not null,
  identity bytea not null check (octet_length(identity) = 32),
  keying text not null check (keying in ('business-identity', 'activity-recipe')),
  lineage uuid not null,
  run_id uuid not null,                   -- the run that launched last
  node_id text not null,
  key text not null,
  business_key text,
  class text not null check (class in ('read_only', 'idempotent_write', 'non_idempotent_write')),
  destination text,
  request_digest bytea not null check (octet_length(request_digest) = 32),
  state text not null check (state in ('launched', 'confirmed', 'absent', 'unknown')),
  launch_no integer not null default 1 check (launch_no >= 1),
  launch_id uuid not null,                -- identity of the launch, minted before its first try
  launched_by uuid not null,              -- incarnation
  fence bigint not null,                  -- the launching run's fence
  era integer not null default 1,
  attempt integer not null,
  launched_at timestamptz not null default now(),
  first_launched_at timestamptz not null default now(),
  quiet_at timestamptz not null,          -- before it an "absent" is no answer yet
  key_until timestamptz,                  -- how long the destination remembers the key
  settled_at timestamptz,
  settled_via text check (settled_via in ('answer', 'refusal', 'reconciler', 'operator', 'unsent')),
  answer jsonb,
  provider_key text,
  asks integer not null default 0,
  unclear boolean not null default false, -- an earlier launch may have happened: a later refusal does not say "absent"
  contradictions integer not null default 0,
  evidence jsonb not null default '[]',
  created_at timestamptz not null default now(),
  constraint effects_settled check ((state in ('confirmed', 'absent')) = (settled_at is not null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create unique index effects_identity on effects (workspace, identity);
create index effects_run on effects (run_id);
create index effects_lineage on effects (lineage);

-- ---- liveness ----------------------------------------------------------------------------------------
create table incarnations (
  id uuid primary key,
  role text not null check (role in ('api', 'relay', 'worker', 'supervisor')),
  pool text,
  host text not null,
  version text not null,
  slots integer,
  lifeline bigint generated always as identity, -- key of its advisory lock
  beat_no bigint not null default 0,
  beat_at timestamptz not null default now(),
  lease_ms integer not null,
  started_at timestamptz not null default now(),
  draining_at timestamptz,
  lapsed_at timestamptz,                  -- set once; an incarnation dies once
  held_at_lapse integer,                  -- how many runs shared its death
  lapsed_trigger text check (lapsed_trigger in ('heartbeat_expired', 'loop_wedged')),
  ended_at timestamptz,                   -- said good-bye
  era integer not null default 1
) with (fillfactor = 50);
create index incarnations_live on incarnations (id) where lapsed_at is null and ended_at is null;

create table lanes (
  name text primary key,
  holder uuid,
  token bigint not null default 0,        -- rises with every take-over of the lane
  until timestamptz not null default '-infinity',
  last_success_at timestamptz
) with (fillfactor = 50);

-- ---- dead letters ------------------------------------------------------------------------------------
create table dead_letters (
  id uuid primary key default gen_random_uuid(),
  workspace text not null,
  scope text not null check (scope in ('run', 'node', 'emission')),
  run_id uuid not null,
  node_id text,
  event_id uuid,
  workflow_id text not null,
  spec_hash text not null,
  failure jsonb not null,
  class text not null check (class in ('TRANSIENT', 'UNKNOWN', 'POISONED_INPUT', 'POLICY_DENIED', 'CREDENTIAL_EXPIRED',
    'PREFLIGHT_FAILED', 'DEFECT', 'NON_RETRYABLE')),
  code text not null,
  disposition text not null check (disposition in ('retry_exhausted', 'handler_error', 'target_resolution_failed',
    'chain_depth_exceeded', 'outcome_unknown', 'crash_limit_exceeded', 'handback_limit_exceeded',
    'dead_lettered_by_operator')),
  fingerprint text not null,
  reason text not null check (reason <> ''),
  attempts integer not null check (attempts >= 1),
  retry_history jsonb not null default '[]',
  chain_depth integer not null default 0,
  handler text,
  original_event jsonb,
  payload_ref text not null,
  payload_digest bytea not null,
  source text,
  target text,
  target_set text[],
  effect_ids uuid[] not null default '{}',
  fencing_token bigint not null,
  credential_ref text,
  credential_version text,
  policy_version text,
  incarnation uuid,
  lineage uuid not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- the projection: the only columns that change, each write backed by a row in recovery_decisions
  state text not null check (state in ('DEAD_LETTERED', 'RETRY_ELIGIBLE', 'RECONCILIATION_REQUIRED', 'UNKNOWN_HOLD',
    'APPROVAL_REQUIRED', 'INPUT_REPAIR_REQUIRED', 'REAUTHORIZATION_REQUIRED', 'ENVIRONMENT_REPAIR_REQUIRED',
    'OPERATOR_DECISION_REQUIRED', 'NEW_ATTEMPT', 'COMPLETE', 'RESOLVED', 'EXPIRED')),
  state_version integer not null default 1,
  waiting_on jsonb,
  next_action text not null check (next_action in ('reconcile', 'replay', 'approve', 'repair_input', 'reauthorize',
    'repair_environment', 'decide', 'none')),
  resolution text,
  superseded_by uuid,
  constraint dead_letters_retained check (expires_at >= created_at + interval '1 day')
);
create unique index dead_letters_run on dead_letters (run_id) where scope = 'run';
create index dead_letters_workspace on dead_letters (workspace, created_at desc, id);
create index dead_letters_expiry on dead_letters (expires_at);

create function dead_letters_keep_facts() returns trigger language plpgsql as $$
declare
  projection text[] := array['state', 'state_version', 'waiting_on', 'next_action', 'resolution', 'superseded_by'];
begin
  if (to_jsonb(new) - projection) is distinct from (to_jsonb(old) - projection) then
    raise exception 'the facts of dead letter % never change', old.id using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger dead_letters_keep_facts before update on dead_letters
  for each row execute function dead_letters_keep_facts();

create table recovery_decisions (
  id uuid primary key default gen_random_uuid(),
  workspace text not null,
  dead_letter_id uuid not null references dead_letters (id),
  state_version integer not null,         -- the version it was taken on
  action text not null,
  actor text not null,
  reason text not null,
  idempotency_key text,
  from_state text not null,
  to_state text not null,
  detail jsonb not null default '{}',
  decided_at timestamptz not null default now(),
  unique (dead_letter_id, state_version),
  unique (dead_letter_id, idempotency_key)
);

-- The queue's own dead messages: no foreign key, nothing in common with dead_letters.
create table message_dead_letters (
  id uuid primary key default gen_random_uuid(),
  pool text not null,
  reason text not null,
  named_run text,
  body text,
  seen_by uuid,
  state text not null default 'open' check (state in ('open', 'redriven', 'discarded')),
  created_at timestamptz not null default now(),
  closed_at timestamptz
);

-- ---- the operations stream: positions are stamped on committed rows ----------------------------------
create table ops_events (
  id uuid primary key default gen_random_uuid(),
  position bigint unique,
  type text not null,
  workspace text,
  subject text,
  data jsonb not null,
  at timestamptz not null default now()
);
create index ops_events_unstamped on ops_events (at) where position is null;

-- ---- who may do what ---------------------------------------------------------------------------------
grant usage on schema public to mainstay_engine, mainstay_read;
grant select, insert, update, delete on all tables in schema public to mainstay_engine;
grant usage on all sequences in schema public to mainstay_engine;
grant select on runs, run_nodes, run_events, effects, dead_letters, recovery_decisions, incarnations, workflow_specs
  to mainstay_read;

do $$
declare
  t text;
begin
  foreach t in array array['runs', 'run_nodes', 'run_events', 'effects', 'dead_letters', 'recovery_decisions'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy engine on %I to mainstay_engine using (true) with check (true)', t);
    execute format('create policy reader on %I for select to mainstay_read
      using (workspace = current_setting(''mainstay.workspace'', true))', t);
  end loop;
end $$;
