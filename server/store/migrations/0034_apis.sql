-- What several connections share: an address, headers, authentication, a rate.
create table apis (
  id text primary key,
  project_id text not null references projects on delete cascade,
  -- What requests name it by.
  name text not null,
  -- Readable without its secrets, and sealed with them.
  config jsonb not null,
  sealed_secrets bytea not null,
  -- How many calls it takes, over all connections and processes.
  rate jsonb,
  tries integer,
  -- It said itself that it takes no calls before.
  paused_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, name)
);
alter table datasources
  -- The API that its request names.
  add column api text generated always as (config ->> 'api') stored;
create index datasources_by_api on datasources (project_id, api);

-- Calls to an API that has a rate: those under way, and those that still count.
create table api_calls (
  id bigint generated always as identity primary key,
  api_id text not null references apis on delete cascade,
  -- When it arrived there at the latest: the rate counts from then.
  counted_at timestamptz not null,
  -- Under way until then at most; a process that dies ends none.
  until timestamptz not null
);
create index api_calls_by_api on api_calls (api_id, counted_at);

-- What somebody granted to an API serves every connection of it.
alter table upstream_grants add column api_id text references apis on delete cascade;
create index upstream_grants_by_api on upstream_grants (api_id);
