-- The engine that answers the queries of a project. What SQL is written in belongs to the engine, and is kept with every
-- draft and version: a version goes on meaning what it meant, whatever becomes of its project.
alter table projects add column engine text not null default 'duckdb' check (engine in ('duckdb', 'trino'));
alter table queries add column dialect text not null default 'duckdb' check (dialect in ('duckdb', 'trino'));
alter table query_versions add column dialect text not null default 'duckdb' check (dialect in ('duckdb', 'trino'));

-- What Trino was told of the data. All of it can be made again, and is: no back-up has it. The first two tables are the
-- catalog that Trino reads, by the names that Iceberg gives them; its user of PostgreSQL needs these two and nothing else.
create schema iceberg;
create table iceberg.iceberg_tables (
  catalog_name varchar(255) not null,
  table_namespace varchar(255) not null,
  table_name varchar(255) not null,
  metadata_location varchar(1000),
  previous_metadata_location varchar(1000),
  iceberg_type varchar(5),
  primary key (catalog_name, table_namespace, table_name)
);
create table iceberg.iceberg_namespace_properties (
  catalog_name varchar(255) not null,
  namespace varchar(255) not null,
  property_key varchar(255),
  property_value varchar(1000),
  primary key (catalog_name, namespace, property_key)
);

-- Schemas of that catalog, one for each set of tables that a project had: whoever is in one never sees another.
create table iceberg.trino_schemas (
  name text primary key,
  project_id text not null references projects (id) on delete cascade,
  used_at timestamptz not null default now()
);
create index trino_schemas_by_project on iceberg.trino_schemas (project_id);

-- Tables by their content, which the schemas share. `copy_hash`: rows that Iceberg cannot read as they are stored,
-- written once more with types that it has.
create table iceberg.trino_tables (
  content text primary key,
  copy_hash text,
  made_at timestamptz not null default now()
);
