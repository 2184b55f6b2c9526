-- Wrong answers that people reported. Once confirmed, the router heeds them; until then they are only listed.
create table counter_examples (
  id text primary key,
  project_id text not null references projects on delete cascade,
  question text not null,
  -- The query that answered it and must not.
  not_query text,
  -- The query that must answer it; null: none does.
  meant_query text,
  status text not null default 'reported' check (status in ('reported', 'confirmed')),
  note text,
  request_id text not null,
  evaluation_id text references evaluation_cases on delete set null,
  created_at timestamptz not null default now(),
  created_by text not null,
  confirmed_at timestamptz,
  confirmed_by text,
  check (not_query is not null or meant_query is not null),
  unique (project_id, question)
);
create index counter_examples_by_project on counter_examples (project_id, id desc);

-- A case made of a report, which holds no deployment before somebody confirms it.
alter table evaluation_cases drop constraint evaluation_cases_source_check;
alter table evaluation_cases add constraint evaluation_cases_source_check
  check (source in ('written', 'confirmed', 'missed', 'reported'));

-- Reports name the request that they are about.
create index questions_by_request on questions (project_id, request_id) where request_id is not null;
