-- Who fetches a datasource just now: one at a time, so that older rows never come behind newer ones. The datasource may
-- not be registered yet. A holder that stops renewing is taken for dead.
create table datasource_turns (
  project_id text not null references projects on delete cascade,
  datasource_id text not null,
  holder text not null,
  until timestamptz not null,
  primary key (project_id, datasource_id)
);
-- Jobs of one kind for one source take turns.
create index jobs_unfinished_by_source on jobs (source_id, job_type) where status in ('queued', 'running');
