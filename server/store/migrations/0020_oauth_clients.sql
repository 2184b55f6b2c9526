-- Programs that act for people who let them: assistants that are given a link.
create table oauth_clients (
  id text primary key,
  name text not null,
  -- Where they may return to, to the letter.
  redirect_uris text[] not null,
  created_at timestamptz not null default now()
);

-- A person's yes. The access itself is an API key, which stands where all others do.
create table oauth_grants (
  id text primary key,
  client_id text not null references oauth_clients on delete cascade,
  user_id text not null references users on delete cascade,
  project_id text not null references projects on delete cascade,
  environment text not null,
  -- Null until the code is exchanged.
  key_id text references api_keys on delete cascade,
  redirect_uri text not null,
  code_hash bytea not null unique,
  code_challenge text not null,
  code_expires_at timestamptz not null,
  code_used_at timestamptz,
  refresh_hash bytea unique,
  -- The one before, which comes again when an answer was lost, or when it was stolen.
  previous_refresh_hash bytea,
  refreshed_at timestamptz,
  refresh_expires_at timestamptz,
  created_at timestamptz not null default now()
);
create index oauth_grants_by_client on oauth_grants (client_id);
create index oauth_grants_by_previous on oauth_grants (previous_refresh_hash) where previous_refresh_hash is not null;
create index oauth_grants_by_key on oauth_grants (key_id) where key_id is not null;
