create table api_keys (
  id text primary key,
  name text not null,
  -- SHA-256 of the whole secret. The one before it is good until `previous_until`.
  secret_hash bytea not null unique,
  previous_hash bytea unique,
  previous_until timestamptz,
  start text not null,
  last4 text not null,
  plan text not null,
  -- Null: as the plan says.
  per_minute integer check (per_minute > 0),
  burst integer check (burst > 0),
  per_day integer check (per_day > 0),
  fixed_parameters jsonb not null default '{}',
  created_by text references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  disabled_at timestamptz,
  revoked_at timestamptz,
  -- Every process reads again what changed since it last looked; a key is revoked, never deleted, so nothing is missed.
  changed_at timestamptz not null default clock_timestamp(),
  check ((previous_hash is null) = (previous_until is null)),
  check ((per_minute is null) = (burst is null))
);
create index api_keys_by_change on api_keys (changed_at);

create table api_key_permissions (
  key_id text not null references api_keys on delete cascade,
  position integer not null,
  -- Null: every project.
  project_id text references projects on delete cascade,
  -- Null: every environment.
  environments text[],
  -- Null: every query.
  queries text[],
  primary key (key_id, position)
);
create index api_key_permissions_by_project on api_key_permissions (project_id);

-- Beside the keys, because it is written while they are used and says nothing that a process must hear of.
create table api_key_uses (
  key_id text primary key references api_keys on delete cascade,
  last_used_at timestamptz not null,
  -- What is used of the day's quota, as the limiter keeps it: the end of the day in microseconds and one for every call.
  daily_state bigint
);
