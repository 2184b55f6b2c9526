-- What requests name instead of holding it: {{var:name}} and {{secret:name}}.
create table variables (
  id text primary key,
  project_id text not null references projects on delete cascade,
  -- Null for the whole project; one of an environment goes before it.
  environment text,
  name text not null,
  -- A variable can be read, a secret is sealed.
  value text,
  sealed_value bytea,
  -- Where a secret may be sent.
  origins text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (project_id, environment) references environments (project_id, name) on delete cascade,
  check ((value is null) <> (sealed_value is null))
);
create unique index variables_name on variables (project_id, name, coalesce(environment, ''));

alter table datasources
  -- The table whose rows it asks about, one request for each.
  add column for_each jsonb;
alter table datasources drop constraint datasources_kind_check;
alter table datasources add constraint datasources_kind_check check (kind in ('http_api', 'file'));

-- What a person has allowed a connection to do for them at an external API.
create table oauth_grants (
  datasource_id text primary key references datasources on delete cascade,
  -- Of the client and its addresses: tokens of another client are not used.
  client_hash text not null,
  sealed_tokens bytea not null,
  granted_by text not null,
  granted_at timestamptz not null default now()
);

-- A person who is at the login of an external API, and will come back.
create table oauth_attempts (
  state_hash text primary key,
  datasource_id text not null references datasources on delete cascade,
  user_id text not null references users on delete cascade,
  session_hash text not null,
  client_hash text not null,
  sealed_verifier bytea not null,
  expires_at timestamptz not null
);
