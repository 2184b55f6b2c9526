-- Where the files of this database's tables lie once they are in a bucket; null while they lie in the folder.
alter table data_folder add column objects_url text;

-- The objects of the bucket: written before the object is, so that the sweep never lists a bucket, and looks only at
-- what nothing has kept for a while. Empty where the files lie in a folder.
create table stored_files (
  hash text not null,
  format text not null check (format in ('json', 'parquet', 'duckdb')),
  kept_at timestamptz not null default now(),
  primary key (hash, format)
);

create index stored_files_kept_at on stored_files (kept_at);
