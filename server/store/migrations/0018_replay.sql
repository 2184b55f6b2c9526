-- Which projects record calls, to run them again before a release. Off until someone switches it on.
create table replay_settings (
  project_id text primary key references projects on delete cascade,
  recording boolean not null,
  -- Most calls of one replay, and most that are kept of each query.
  max_calls integer not null,
  days integer not null,
  -- Slots whose values are not written down.
  redacted_slots text[] not null,
  updated_at timestamptz not null default now(),
  updated_by text not null
);
create function tell_replay_settings() returns trigger language plpgsql as $$
declare
  touched replay_settings := coalesce(new, old);
begin
  perform pg_notify('replay_settings_changed', touched.project_id);
  return null;
end $$;
create trigger replay_settings_told after insert or update or delete on replay_settings
  for each row execute function tell_replay_settings();

-- Calls as they were made. Who writes them holds the settings of their project and nothing else, so that deleting a
-- project or a query never waits for a writer in a circle.
create table recorded_calls (
  id text primary key,
  project_id text not null references replay_settings on delete cascade,
  environment text not null,
  query_id text not null,
  version integer not null,
  key_id text,
  at timestamptz not null,
  -- How many calls with the same values it stands for.
  times integer not null,
  -- Values of callers may tell of people.
  sealed_parameters bytea not null
);
create index recorded_calls_by_query on recorded_calls (project_id, environment, query_id, at desc);
create function forget_recorded_calls() returns trigger language plpgsql as $$
begin
  delete from recorded_calls where project_id = old.project_id and query_id = old.id;
  return null;
end $$;
create trigger queries_forgotten after delete on queries for each row execute function forget_recorded_calls();

-- Calls that were run on two versions, and what came of it.
create table replays (
  id text primary key,
  project_id text not null references projects on delete cascade,
  environment text not null,
  kind text not null check (kind in ('replay', 'canary', 'shadow')),
  release_id text,
  job_id text,
  status text not null check (status in ('running', 'finished', 'stopped')),
  -- What is compared with what: a draft is here as it was then.
  plan json not null,
  total integer,
  -- By query.
  counts json not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  finished_at timestamptz
);
create index replays_by_project on replays (project_id, id desc);

-- Those that were not equal, to be looked at.
create table replay_calls (
  id text primary key,
  replay_id text not null references replays on delete cascade,
  query text not null,
  outcome text not null,
  before_version integer not null,
  -- Null: a draft.
  after_version integer,
  called_at timestamptz not null,
  key_id text,
  -- The values of the call and rows that differ.
  sealed_details bytea not null
);
create index replay_calls_by_replay on replay_calls (replay_id, id);

-- A release that is tried out in an environment, one at a time: it answers a share of the keys (canary), or none while
-- it is run behind (shadow).
create table trials (
  release_id text primary key references releases on delete cascade,
  project_id text not null references projects on delete cascade,
  environment text not null,
  kind text not null check (kind in ('canary', 'shadow')),
  -- Of ten thousand keys.
  share integer not null check (share between 0 and 10000),
  -- When it gets a larger share, and what takes it back.
  rules json not null,
  -- Where its answers are compared with those of the versions before; null where they are not.
  replay_id text,
  started_at timestamptz not null,
  stepped_at timestamptz not null,
  unique (project_id, environment),
  foreign key (project_id, environment) references environments on delete cascade
);
create table trial_versions (
  release_id text not null references trials on delete cascade,
  name text not null,
  query_id text not null references queries on delete cascade,
  version_id text not null references query_versions on delete cascade,
  primary key (release_id, name)
);

-- Said like every other change of what answers in an environment: each process then reads both at once.
create trigger trials_inserted after insert on trials
  referencing new table as touched for each statement execute function tell_deployments();
create trigger trials_updated after update on trials
  referencing new table as touched for each statement execute function tell_deployments();
create trigger trials_deleted after delete on trials
  referencing old table as touched for each statement execute function tell_deployments();
