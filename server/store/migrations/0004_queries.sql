-- What people edit. JSON is kept as written (`json`, not `jsonb`): the order of slots is the order of forms and diffs.
create table queries (
  id text primary key,
  project_id text not null references projects on delete cascade,
  name text not null,
  description text not null,
  sql text not null,
  slots json not null,
  examples json not null,
  cache_seconds integer,
  timeout_ms integer,
  max_rows bigint,
  max_bytes bigint,
  -- Of each key's calls of this query, beside the key's own limit; both or neither.
  rate_per_minute integer,
  rate_burst integer,
  -- Counts edits: an editor who saves says which edit they started from.
  revision integer not null default 1,
  -- Of everything above that a version freezes: tells whether the draft differs from a version.
  content_hash text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by text not null,
  unique (project_id, name)
);

-- Never changed once written.
create table query_versions (
  id text primary key,
  query_id text not null references queries on delete cascade,
  version integer not null,
  description text not null,
  sql text not null,
  slots json not null,
  examples json not null,
  cache_seconds integer,
  timeout_ms integer,
  max_rows bigint,
  max_bytes bigint,
  -- Of each key's calls of this query, beside the key's own limit; both or neither.
  rate_per_minute integer,
  rate_burst integer,
  columns json not null,
  -- Table names, and per table the columns that are read.
  tables json not null,
  content_hash text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  unique (query_id, version)
);

-- What answers now: one row for each query in each environment.
create table deployments (
  project_id text not null references projects on delete cascade,
  environment text not null,
  name text not null,
  query_id text not null references queries on delete cascade,
  version_id text not null references query_versions on delete cascade,
  deployed_at timestamptz not null default now(),
  deployed_by text not null,
  primary key (project_id, environment, name),
  foreign key (project_id, environment) references environments on delete cascade
);
create index deployments_by_query on deployments (query_id);

-- Everything that was ever done to a deployment, by whom and when.
create table deployment_acts (
  id text primary key,
  query_id text not null references queries on delete cascade,
  environment text not null,
  act text not null check (act in ('deploy', 'promote', 'rollback', 'undeploy')),
  -- Null after an undeploy.
  version integer,
  previous_version integer,
  at timestamptz not null default now(),
  by text not null
);
create index deployment_acts_by_query on deployment_acts (query_id, id desc);

-- Which key called what, and when last: who would notice a breaking change.
create table query_callers (
  query_id text not null references queries on delete cascade,
  environment text not null,
  key_id text not null,
  last_called_at timestamptz not null,
  primary key (query_id, environment, key_id)
);

-- Said by the database itself, so that a change that follows from another (a project or an environment that is
-- deleted) is heard like every other.
create function tell_deployment() returns trigger language plpgsql as $$
declare
  touched deployments := coalesce(new, old);
begin
  perform pg_notify('deployments_changed', json_build_array(touched.project_id, touched.environment, touched.name)::text);
  return null;
end $$;
create trigger deployments_told after insert or update or delete on deployments
  for each row execute function tell_deployment();
