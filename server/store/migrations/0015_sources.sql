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
