-- Tables made of tables: a datasource whose data is the result of a statement.
ALTER TABLE datasources DROP CONSTRAINT datasources_kind_check;
ALTER TABLE datasources ADD CONSTRAINT datasources_kind_check CHECK (kind IN ('http_api', 'file', 'model'));

CREATE TABLE models (
  datasource_id text PRIMARY KEY REFERENCES datasources (id) ON DELETE CASCADE,
  project_id text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  sql text NOT NULL,
  dialect text NOT NULL DEFAULT 'duckdb',
  -- The tables that the statement reads, with the columns of each, and the columns of its result.
  reads jsonb NOT NULL,
  columns jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, name)
);

-- The versions of the tables that a version of a model was built from, those of models among them included.
ALTER TABLE data_objects ADD COLUMN built_from jsonb;
