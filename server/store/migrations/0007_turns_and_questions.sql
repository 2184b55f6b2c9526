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

-- Questions counted by hour, for reports over days of them; one partition a day. Of an hour and project those that were
-- asked most.
create table usage_questions (
  project_id text not null,
  start timestamptz not null,
  -- Empty where there is none.
  environment text not null,
  query text not null,
  key_id text not null,
  reason text not null,
  -- Understood, and not answered.
  refused boolean not null,
  question text not null,
  -- The question in small letters and with single spaces, by which it is counted.
  same text not null,
  calls bigint not null,
  last_at timestamptz not null
) partition by range (start);
create index usage_questions_by_project on usage_questions (project_id, start);
create index requests_with_question on requests (at) where entry = 'question';
-- Previews are in the log and in no figure, so figures cannot tell where they are.
create index requests_of_previews on requests (project_id, at desc) where entry = 'preview';
