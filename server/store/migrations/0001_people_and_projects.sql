-- One row: what was decided when this installation was first opened.
create table installation (
  only_row boolean primary key default true check (only_row),
  created_at timestamptz not null default now(),
  -- Wanted until the example project stands; then it never appears again.
  example text not null check (example in ('wanted', 'done', 'off')),
  example_project_id text,
  -- The key whose secret is made anew for the lines that a start prints.
  example_key_id text
);

create table users (
  id text primary key,
  -- Lower case. Null until the person who opened the first sign-in link gives one.
  email text unique,
  name text not null,
  password_hash text,
  administrator boolean not null default false,
  created_at timestamptz not null default now()
);

create table sessions (
  -- SHA-256 of what the cookie carries.
  id_hash bytea primary key,
  user_id text not null references users on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

create table projects (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table members (
  project_id text not null references projects on delete cascade,
  user_id text not null references users on delete cascade,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
create index members_by_user on members (user_id);

create table environments (
  project_id text not null references projects on delete cascade,
  name text not null,
  position integer not null,
  created_at timestamptz not null default now(),
  primary key (project_id, name)
);

-- One-time links: a sign-in link is for a user, an invitation for whoever holds it.
create table links (
  id text primary key,
  secret_hash bytea not null unique,
  user_id text references users on delete cascade,
  project_id text references projects on delete cascade,
  role text check (role in ('owner', 'editor', 'viewer')),
  email text,
  created_by text references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  check ((user_id is null) <> (project_id is null)),
  check ((project_id is null) = (role is null))
);
create index links_by_project on links (project_id);

create table management_tokens (
  id text primary key,
  name text not null,
  secret_hash bytea not null unique,
  start text not null,
  last4 text not null,
  -- Null: every project its maker reaches.
  project_id text references projects on delete cascade,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  -- A token does no more than its maker may; null when the operator's own token made it.
  created_by text references users on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index management_tokens_by_maker on management_tokens (created_by);

-- No foreign keys: the log outlives what it speaks of.
create table audit_log (
  id text primary key,
  at timestamptz not null default now(),
  actor_kind text not null,
  actor_id text,
  actor_label text not null,
  project_id text,
  action text not null,
  target text not null,
  details jsonb not null default '{}',
  request_id text
);
create index audit_log_by_project on audit_log (project_id, id desc);
