-- Calls that came within a second and agree in everything they are counted by are written as one row. A query whose
-- answers are kept is called many thousand times a second, and a row for each would cost more than the answer.
create table request_batches (
  -- When the first of them was answered.
  start timestamptz not null,
  project_id text not null,
  environment text,
  query text,
  version integer,
  entry text not null,
  key_id text,
  status smallint not null,
  error text,
  reason text,
  cache text,
  -- A value for each call, in the order of the ids; a list of one where it is the same for all.
  ids text[] not null,
  after_ms integer[] not null,
  total_us bigint[] not null,
  sql_us bigint[] not null,
  rows bigint[] not null,
  bytes bigint[] not null,
  -- A call that was asked in words is a batch of its own.
  route_us bigint,
  question text,
  confidence real
) partition by range (start);
create index request_batches_by_project on request_batches (project_id, start desc);
create index request_batches_with_question on request_batches (start) where entry = 'question';
-- Previews are in the log and in no figure, so figures cannot tell where they are.
create index request_batches_of_previews on request_batches (project_id, start desc) where entry = 'preview';

do $$
declare
  day timestamptz;
begin
  for day in select distinct date_trunc('day', at, 'UTC') from requests loop
    execute format('create table sluice_partitions.request_batches_%s partition of request_batches for values from (%L) to (%L)',
      to_char(day at time zone 'UTC', 'YYYYMMDD'), day, day + interval '24 hours');
  end loop;
end $$;
insert into request_batches
select at, project_id, environment, query, version, entry, key_id, status, error, reason, cache, array[id], array[0],
       array[round(total_ms * 1000)::bigint], array[round(sql_ms * 1000)::bigint], array[rows], array[bytes],
       round(route_ms * 1000)::bigint, question, confidence
  from requests;
drop table requests;

-- One row for each call. Whoever reads it bounds `start` as well as `at`: only the former has an index.
create view requests as
select batch.start, batch.start + coalesce(each.after_ms, batch.after_ms[1]) * interval '1 ms' as at, each.id,
       batch.project_id, batch.environment, batch.query, batch.version, batch.entry, batch.key_id, batch.status,
       batch.error, batch.reason, batch.cache,
       coalesce(each.total_us, batch.total_us[1]) / 1000::float8 as total_ms,
       batch.route_us / 1000::float8 as route_ms,
       coalesce(each.sql_us, batch.sql_us[1]) / 1000::float8 as sql_ms,
       greatest(0, coalesce(each.total_us, batch.total_us[1]) - coalesce(batch.route_us, 0)
                     - coalesce(each.sql_us, batch.sql_us[1])) / 1000::float8 as queue_ms,
       coalesce(each.rows, batch.rows[1]) as rows, coalesce(each.bytes, batch.bytes[1]) as bytes,
       batch.question, batch.confidence
  from request_batches as batch,
       unnest(batch.ids, batch.after_ms, batch.total_us, batch.sql_us, batch.rows, batch.bytes)
         as each(id, after_ms, total_us, sql_us, rows, bytes);
