-- An owner lets whoever has a link read what is deployed in an environment. The link is a secret: here is its hash.
create table shared_references (
  project_id text not null,
  environment text not null,
  secret_hash bytea not null unique,
  created_at timestamptz not null default now(),
  primary key (project_id, environment),
  foreign key (project_id, environment) references environments on delete cascade
);
