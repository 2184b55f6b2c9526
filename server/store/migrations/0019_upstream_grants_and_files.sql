-- What authorization servers of external APIs gave: access and refresh tokens.
create table upstream_grants (
  id text primary key,
  project_id text not null references projects on delete cascade,
  -- The connection that somebody connected; null where it began with a refresh token that a request holds.
  datasource_id text references datasources on delete cascade,
  -- Which one it is within the project: a connection, or a hash of the refresh token that it began with.
  purpose text not null,
  -- The tokens, and what they are bound to.
  sealed_tokens bytea not null,
  -- Counts what was written, so that nobody writes over what they have not read.
  generation integer not null default 0,
  connected_by text,
  -- Why the server gives no further tokens, in words.
  refusal text,
  connected_at timestamptz not null,
  used_at timestamptz not null,
  unique (project_id, purpose)
);
create index upstream_grants_by_datasource on upstream_grants (datasource_id);

-- Browsers that were sent to an authorization server and are expected back.
create table upstream_attempts (
  -- A hash of the state that they come back with.
  id text primary key,
  project_id text not null references projects on delete cascade,
  datasource_id text not null references datasources on delete cascade,
  user_id text not null references users on delete cascade,
  session_hash text not null,
  redirect_uri text not null,
  sealed_attempt bytea not null,
  expires_at timestamptz not null
);
create index upstream_attempts_by_user on upstream_attempts (user_id);
create index upstream_attempts_by_datasource on upstream_attempts (datasource_id);
create index upstream_attempts_by_project on upstream_attempts (project_id);

-- Tables that people send files to, beside those that an API fills.
alter table datasources drop constraint datasources_kind_check;
alter table datasources add constraint datasources_kind_check check (kind in ('http_api', 'file'));
