-- Pause, resume and fork. Expands only: code from before neither writes nor reads these columns, and no statement of it
-- makes a run `paused`, so both may run side by side.

alter table runs
  -- how a requested pause treats what is under way, until the pause is state
  add column stop_drain text check (stop_drain in ('immediate', 'drain-current-node')),
  -- what a paused run goes back to; its waits stay as they were
  add column paused_from text check (paused_from in ('pending', 'running', 'waiting-approval', 'waiting-input', 'waiting-external')),
  add column fork_mode text check (fork_mode in ('replay', 'branch')),
  -- retention keeps the run until then; who goes on needing its record sets it under the row's lock
  add column pinned_until timestamptz,
  add constraint runs_paused_from check ((status = 'paused') = (paused_from is not null)),
  add constraint runs_pause_drains check (stop_requested is distinct from 'pause' or stop_drain is not null),
  add constraint runs_forked check ((fork_mode is null) = (forked_from is null) and (fork_mode is null) = (fork_seq is null));

-- What the source of a replay fork recorded from the fork point on, copied at its birth: the fork needs its source no
-- more, and retention may take the source away.
create table recorded_outcomes (
  run_id uuid not null,                   -- the fork
  seq integer not null,                   -- of the source's log
  workspace text not null,
  event_id uuid not null,                 -- of the source's log
  type text not null check (type in ('node.completed', 'node.failed', 'node.skipped', 'run.completed', 'run.failed', 'run.cancelled')),
  node_id text,
  payload jsonb not null,
  primary key (run_id, seq)
);

grant select, insert, update, delete on recorded_outcomes to mainstay_engine;
alter table recorded_outcomes enable row level security;
alter table recorded_outcomes force row level security;
create policy engine on recorded_outcomes to mainstay_engine using (true) with check (true);
