-- One row: the folder that the files of this database's tables lie in. A process with another folder would name files
-- it does not have. Not part of a back-up: what is restored belongs to the folder it is restored into.
create table data_folder (
  only_row boolean primary key default true check (only_row),
  id text not null,
  -- Where it was when it was first opened, for the words of a refusal.
  directory text not null,
  machine text not null,
  opened_at timestamptz not null default now()
);
