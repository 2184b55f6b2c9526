-- Processes that share this database, each with its last sign of life. What one of them counts alone it counts for as
-- many as there are.
create table replicas (
  id text primary key,
  role text not null check (role in ('all', 'api', 'worker')),
  machine text not null,
  seen_at timestamptz not null default now()
);
