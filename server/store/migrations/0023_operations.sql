-- Words by which people find and group keys.
alter table api_keys add column tags text[] not null default '{}';

-- From where a key was used lately; written with its uses, a few for each key.
create table api_key_addresses (
  key_id text not null references api_keys on delete cascade,
  address text not null,
  last_used_at timestamptz not null,
  primary key (key_id, address)
);

-- Which answers a recorded call stands for, so that the log of calls can tell its values.
alter table recorded_calls
  add column request_ids text[] not null default '{}',
  -- Not answered: told in the log of calls, and never run again.
  add column failed boolean not null default false;
create index recorded_calls_by_time on recorded_calls (project_id, at desc);

-- While an alert is silenced it is watched and tells nobody. Who had not been told when it fired is told afterwards.
alter table alerts
  add column silenced_until timestamptz,
  add column silenced_by text,
  add column silenced_reason text,
  add column unannounced boolean not null default false;
alter table alert_events add column silenced boolean not null default false;

-- Ways to tell people that a project has once, for any number of its alerts.
create table notification_channels (
  id text primary key,
  project_id text not null references projects on delete cascade,
  name text not null,
  type text not null check (type in ('webhook', 'email', 'slack')),
  target text not null,
  sealed_secrets bytea,
  tested_at timestamptz,
  -- Null: what was sent last as a test arrived.
  test_error text,
  created_at timestamptz not null default now(),
  created_by text not null,
  unique (project_id, name)
);
-- One that is shared has its address in the row above, and here where that leads.
alter table alert_channels add column shared_id text references notification_channels on delete cascade;
create index alert_channels_by_shared on alert_channels (shared_id) where shared_id is not null;

-- What is looked at on a page, under a name.
create table saved_views (
  id text primary key,
  project_id text not null references projects on delete cascade,
  -- Whose it is; null: everyone's who may look at the project.
  user_id text references users on delete cascade,
  page text not null,
  name text not null,
  filter jsonb not null,
  created_at timestamptz not null default now(),
  created_by text not null
);
create unique index saved_views_by_name on saved_views (project_id, page, coalesce(user_id, ''), lower(name));
