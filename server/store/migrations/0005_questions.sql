-- Every question and what became of it. The text is null where the project wants none kept.
create table questions (
  id text primary key,
  project_id text not null references projects on delete cascade,
  environment text not null,
  at timestamptz not null,
  text text,
  outcome text not null check (outcome in ('answered', 'no_match', 'ambiguous', 'missing_slots')),
  -- The query that answered, or the nearest.
  query text,
  parameters jsonb,
  confidence double precision,
  key_id text,
  request_id text,
  -- What a person made of it: an example, an evaluation case, a draft, or nothing.
  resolved text check (resolved in ('example', 'evaluation', 'draft', 'dismissed'))
);
create index questions_by_project on questions (project_id, id desc);
create index questions_by_age on questions (at);

create table question_settings (
  project_id text primary key references projects on delete cascade,
  -- Whether questions are kept with their text, without it, or not at all.
  log text not null check (log in ('full', 'redacted', 'off')),
  retention_days integer not null check (retention_days between 1 and 3650)
);

-- What a question must be routed to; without a query it must be refused.
create table evaluation_cases (
  id text primary key,
  project_id text not null references projects on delete cascade,
  question text not null,
  expected_query text,
  -- Null: any values.
  expected_parameters jsonb,
  -- Written by hand, confirmed as it was answered, or made of a question that was missed.
  source text not null check (source in ('written', 'confirmed', 'missed')),
  created_at timestamptz not null default now(),
  created_by text not null,
  unique (project_id, question)
);

create table evaluation_runs (
  id text primary key,
  project_id text not null references projects on delete cascade,
  environment text not null,
  at timestamptz not null default now(),
  by text not null,
  -- At a deployment: of what.
  query text,
  version integer,
  total integer not null,
  passed integer not null,
  results jsonb not null
);
create index evaluation_runs_by_project on evaluation_runs (project_id, id desc);

-- What the encoder made of texts, by their hashes: a restart does not read them all again.
create table question_vectors (
  model_hash text not null,
  text_hash text not null,
  vector bytea not null,
  used_at timestamptz not null,
  primary key (model_hash, text_hash)
);
create index question_vectors_by_use on question_vectors (used_at);
