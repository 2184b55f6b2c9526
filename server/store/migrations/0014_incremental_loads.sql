-- How new data comes to a table: in place of the old, behind it, or by key.
alter table datasources add column load jsonb not null default '{"mode": "replace"}';

alter table data_objects
  -- Rows that the load itself brought, where the version has more than those.
  add column new_rows bigint,
  -- What the version was loaded by: mode, key and cursor field. Null for one file that was loaded whole.
  add column load jsonb,
  -- The largest value of the cursor field up to this version: where the next load goes on. It belongs to the version, so
  -- that both are there or neither, and going back to a version goes back to its value.
  add column last_value jsonb,
  -- The file that names the rows of its parts which are past: replaced or deleted by key.
  add column deletions jsonb,
  -- What the API said by which it can tell that nothing has changed: the address, an ETag, a day.
  add column validators jsonb,
  -- When the API last said so.
  add column checked_at timestamptz;

-- Immutable files of rows. A version of a table that is loaded bit by bit is a list of them.
create table data_parts (
  id text primary key,
  project_id text not null references projects on delete cascade,
  datasource_id text not null references datasources on delete cascade,
  file_hash text not null,
  size_bytes bigint not null,
  row_count bigint not null,
  columns jsonb not null,
  -- The versions whose loads brought its rows: one, or several once parts were put together.
  loads integer[] not null,
  -- The copy for speed, once it is made.
  native_hash text,
  native_bytes bigint,
  created_at timestamptz not null default now()
);
create index data_parts_by_datasource on data_parts (datasource_id);
create index data_parts_by_project on data_parts (project_id);

create table version_parts (
  data_object_id text not null references data_objects on delete cascade,
  place integer not null,
  part_id text not null references data_parts,
  primary key (data_object_id, place)
);
create index version_parts_by_part on version_parts (part_id);
