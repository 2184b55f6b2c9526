-- What the columns of a table are to be, and what happens to data that is not so.
alter table datasources
  -- By the key in the answer: name, type, hidden and description where the author decided them.
  add column column_rules jsonb not null default '[]',
  add column on_mismatch text not null default 'widen' check (on_mismatch in ('widen', 'hold', 'null', 'refuse')),
  -- What happens to a version that would break a deployed query.
  add column on_breaking text not null default 'hold' check (on_breaking in ('hold', 'serve')),
  add column checks jsonb not null default '[]';

alter table data_objects
  -- The version that SQL reads, told by its rows. Every other one waits or is past.
  add column is_live boolean not null default false,
  -- When it last began to serve; null for one that never did.
  add column activated_at timestamptz,
  -- Why it does not serve although it came; null for one that was let through.
  add column held_because jsonb,
  -- How many values of which column were no such values and became null.
  add column rejected jsonb;

alter table data_objects drop constraint data_objects_kind_check;
alter table data_objects add constraint data_objects_kind_check
  check (kind in ('request_config', 'response_data', 'prepared', 'rejected_values'));

update data_objects set activated_at = created_at where kind = 'response_data';
update data_objects set is_live = true
where kind = 'response_data'
  and version = (
    select max(newer.version) from data_objects as newer
    where newer.datasource_id = data_objects.datasource_id and newer.kind = 'response_data'
  );
create unique index data_objects_live on data_objects (datasource_id) where is_live;

-- Web pages of these origins may read answers of the project's queries.
alter table projects add column allowed_origins text[] not null default '{}';

-- How far a load in the background has come, so that its next attempt goes on from there.
create table load_checkpoints (
  datasource_id text primary key references datasources on delete cascade,
  job_id text not null,
  -- Of the request and its pagination: another request starts over.
  request_hash text not null,
  -- The rows so far, in the data folder of the process that fetched them.
  rows_path text not null,
  state jsonb not null,
  updated_at timestamptz not null default now()
);

-- What a running job says about itself beyond its progress: pages, rows, bytes.
alter table jobs add column details jsonb;
