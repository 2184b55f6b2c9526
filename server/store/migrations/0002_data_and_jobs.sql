create table datasources (
  -- Given by the caller of execute-request or made here; one id belongs to one project for ever.
  id text primary key,
  project_id text not null references projects on delete cascade,
  name text not null,
  kind text not null check (kind in ('http_api')),
  -- What SQL reads.
  table_name text not null,
  -- The request configuration with `***` for every secret.
  config jsonb,
  -- The secrets that belong there, sealed as one piece.
  sealed_secrets bytea,
  pagination jsonb,
  schedule text,
  schedule_time_zone text not null default 'UTC',
  next_refresh_at timestamptz,
  -- How many versions of its data are kept; older ones are deleted once no query reads them.
  keep_versions integer not null default 5 check (keep_versions between 1 and 1000),
  -- Of the last refresh that brought data, and of the last that did not since then.
  refreshed_at timestamptz,
  last_error jsonb,
  created_at timestamptz not null default now(),
  unique (project_id, table_name)
);
create index datasources_due on datasources (next_refresh_at) where next_refresh_at is not null;

create table data_objects (
  id text primary key,
  project_id text not null references projects on delete cascade,
  datasource_id text not null references datasources on delete cascade,
  kind text not null check (kind in ('request_config', 'response_data', 'prepared')),
  format text not null check (format in ('json', 'parquet', 'duckdb')),
  version integer not null,
  -- SHA-256 of the content: the name of the file.
  file_hash text not null,
  size_bytes bigint not null,
  row_count bigint,
  columns jsonb,
  -- Added, removed and changed columns against the version before; null for the first.
  drift jsonb,
  -- Whether pages or rows were left out when it was fetched.
  truncated boolean not null default false,
  profile jsonb,
  created_at timestamptz not null default now(),
  unique (datasource_id, kind, version)
);
create index data_objects_by_project on data_objects (project_id, id desc);
create index data_objects_by_file on data_objects (file_hash);

create table lineage (
  project_id text not null references projects on delete cascade,
  from_id text not null,
  to_id text not null,
  primary key (from_id, to_id)
);
create index lineage_by_target on lineage (to_id);

-- Distinct values of text columns by frequency: what questions are matched with and forms offer.
create table column_values (
  datasource_id text not null references datasources on delete cascade,
  column_name text not null,
  value text not null,
  occurrences bigint not null,
  primary key (datasource_id, column_name, value)
);

create table jobs (
  id text primary key,
  project_id text not null references projects on delete cascade,
  job_type text not null,
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  source text not null,
  source_id text not null,
  source_event_type text not null,
  -- What the job works on beyond its source, in wire names.
  input jsonb not null default '{}',
  attempt integer not null default 1,
  max_attempts integer not null default 3,
  progress real not null default 0 check (progress between 0 and 1),
  error jsonb,
  retried_from text,
  cancel_requested_at timestamptz,
  -- Which process runs it: data folder and start of the process. Null unless it is running.
  worker text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index jobs_by_project on jobs (project_id, id desc);
create index jobs_unfinished on jobs (status) where status in ('queued', 'running');

-- Answers of execute-request by Idempotency-Key; kept for a day.
create table idempotent_calls (
  project_id text not null references projects on delete cascade,
  key text not null,
  body_hash bytea not null,
  -- Null while the first call is under way.
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (project_id, key)
);
create index idempotent_calls_by_age on idempotent_calls (created_at);

-- Something sealed with the key of the vault: a start with another key is found out before a secret is needed.
create table vault_check (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null
);
