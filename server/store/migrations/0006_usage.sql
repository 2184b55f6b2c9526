-- Days of raw requests and months of rollups live here, beside the tables that people read.
create schema sluice_partitions;

-- One row for each call of a query endpoint; one partition a day, dropped whole when its time has come. No foreign
-- keys: recording must never wait for, or fail with, what it is about.
create table requests (
  at timestamptz not null,
  id text not null,
  project_id text not null,
  environment text,
  query text,
  version integer,
  entry text not null,
  key_id text,
  status smallint not null,
  error text,
  reason text,
  total_ms real not null,
  route_ms real,
  queue_ms real not null,
  sql_ms real not null,
  rows bigint not null,
  bytes bigint not null,
  cache text,
  question text,
  confidence real
) partition by range (at);
create index requests_by_project on requests (project_id, at desc);

-- The same calls counted by minute, hour and day; one partition a month. Each process writes rows of its own
-- with absolute figures, so that replicas never wait for one another and a write that is repeated changes nothing.
create table usage_rollups (
  project_id text not null,
  grain text not null,
  start timestamptz not null,
  -- A number of one process for one row.
  writer bigint not null,
  -- Empty where a call did not come so far as to have one.
  environment text not null,
  query text not null,
  version integer not null,
  key_id text not null,
  entry text not null,
  status smallint not null,
  error text not null,
  reason text not null,
  cache text not null,
  calls bigint not null,
  total_ms double precision not null,
  sql_ms double precision not null,
  rows bigint not null,
  bytes bigint not null,
  -- How many calls took how long: logarithmic buckets and their counts, added up by number.
  buckets smallint[] not null,
  counts bigint[] not null
) partition by range (start);
create unique index usage_rollups_key on usage_rollups (project_id, grain, start, writer);
-- Minutes become hours and days whatever their project; they lie in the order in which they came.
create index usage_rollups_by_time on usage_rollups using brin (start);

-- Up to when hours and days are complete.
create table usage_progress (
  grain text primary key,
  until timestamptz not null
);

create table alerts (
  id text primary key,
  project_id text not null references projects on delete cascade,
  name text not null,
  type text not null,
  -- In the metric's own unit. Null where a schedule says what is late.
  threshold double precision,
  -- Once firing, it takes this much to be well again.
  resolve_threshold double precision,
  window_minutes integer not null,
  for_minutes integer not null,
  min_requests integer not null,
  remind_minutes integer,
  environment text,
  query text,
  enabled boolean not null default true,
  state text not null default 'ok' check (state in ('ok', 'firing')),
  value double precision,
  -- Since when it would fire, were it not for `for_minutes`.
  pending_since timestamptz,
  started_at timestamptz,
  notified_at timestamptz,
  evaluated_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text references users on delete set null
);
create index alerts_by_project on alerts (project_id, id);

create table alert_channels (
  id text primary key,
  alert_id text not null references alerts on delete cascade,
  position integer not null,
  type text not null check (type in ('webhook', 'email', 'slack')),
  -- An address or addresses. Of Slack the address is the secret: then it is sealed, and this shows where it leads.
  target text not null,
  sealed_secrets bytea
);
create index alert_channels_by_alert on alert_channels (alert_id, position);

-- What an alert went through.
create table alert_events (
  id text primary key,
  alert_id text not null references alerts on delete cascade,
  at timestamptz not null,
  kind text not null check (kind in ('firing', 'resolved', 'reminder', 'test')),
  value double precision,
  threshold double precision,
  message jsonb not null
);
create index alert_events_by_alert on alert_events (alert_id, id desc);

-- What is to be told to whom: the log of deliveries and their queue in one.
create table alert_deliveries (
  id text primary key,
  event_id text not null references alert_events on delete cascade,
  alert_id text not null references alerts on delete cascade,
  channel_id text not null,
  channel_type text not null,
  target text not null,
  status text not null check (status in ('pending', 'delivered', 'failed')),
  attempt integer not null default 0,
  created_at timestamptz not null,
  -- While someone delivers it, the moment at which they are taken for dead.
  next_attempt_at timestamptz,
  finished_at timestamptz,
  response_status integer,
  error text
);
create index alert_deliveries_by_alert on alert_deliveries (alert_id, id desc);
create index alert_deliveries_due on alert_deliveries (next_attempt_at) where status = 'pending';

-- When alerts were last looked at, by whichever replica.
create table alert_rounds (
  only_row boolean primary key default true check (only_row),
  evaluated_at timestamptz not null
);
