import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture({ executors: 2 })
  await writeFile(join(fixture.dir, 'secret.csv'), 'secret\n42\n')
})
afterAll(() => fixture.close())

/** Everything here must be refused by inspection and by a read that nobody inspected. `DIR` is a real folder. */
const statements = [
  'SELECT 1; SELECT 2',
  'SELECT 1; DROP VIEW orders',
  'SELECT 1) t; DROP VIEW orders; SELECT * FROM (SELECT 1',
  'SELECT 1 AS x) AS result_rows(c0) UNION ALL SELECT 2 FROM (SELECT 3',
  '',
  '   -- nothing',
  ';',
  'DROP VIEW orders',
  'CREATE TABLE t AS SELECT 1',
  'CREATE VIEW v AS SELECT 1',
  'CREATE MACRO m(x) AS x',
  'INSERT INTO orders VALUES (1)',
  'UPDATE orders SET id = 1',
  'DELETE FROM orders',
  'MERGE INTO orders USING orders o ON false WHEN NOT MATCHED THEN INSERT BY NAME',
  'TRUNCATE orders',
  "COPY orders TO 'DIR/out.csv'",
  "COPY (SELECT 1) TO 'DIR/out.csv'",
  "EXPORT DATABASE 'DIR/out'",
  "IMPORT DATABASE 'DIR/out'",
  "ATTACH ':memory:' AS other",
  "ATTACH 'DIR/other.duckdb'",
  'DETACH native_0',
  'USE memory',
  'INSTALL httpfs',
  'LOAD httpfs',
  'PRAGMA database_list',
  'PRAGMA enable_profiling',
  "SET memory_limit = '10GB'",
  'RESET memory_limit',
  'SET VARIABLE x = 1',
  'CALL pragma_version()',
  'CHECKPOINT',
  'VACUUM',
  'BEGIN TRANSACTION',
  'EXPLAIN SELECT 1',
  'EXPLAIN ANALYZE SELECT * FROM orders',
  'PREPARE p AS SELECT 1',
  'EXECUTE p',
  'SHOW TABLES',
  'SHOW ALL TABLES',
  'DESCRIBE orders',
  'SUMMARIZE orders',
  'SELECT * FROM (SHOW TABLES)',
  'SELECT * FROM (DESCRIBE orders)',
  'SELECT * FROM (SUMMARIZE orders)',
  "SELECT * FROM 'DIR/secret.csv'",
  "SELECT * FROM 'DIR/orders.parquet'",
  'SELECT * FROM "DIR/secret.csv"',
  "SELECT * FROM read_csv('DIR/secret.csv')",
  "SELECT * FROM read_csv_auto('DIR/secret.csv')",
  "SELECT * FROM READ_CSV('DIR/secret.csv')",
  'SELECT * FROM "read_csv"(\'DIR/secret.csv\')',
  "SELECT * FROM main.read_csv('DIR/secret.csv')",
  "SELECT * FROM read_parquet('DIR/orders.parquet')",
  "SELECT * FROM parquet_scan(['DIR/orders.parquet'])",
  "SELECT * FROM parquet_metadata('DIR/orders.parquet')",
  "SELECT * FROM read_json('/etc/passwd')",
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT * FROM read_blob('/etc/passwd')",
  "SELECT * FROM read_duckdb('DIR/x.duckdb')",
  "SELECT * FROM glob('/*')",
  "SELECT * FROM sniff_csv('DIR/secret.csv')",
  "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
  "SELECT * FROM 's3://bucket/x.parquet'",
  'SELECT * FROM duckdb_settings()',
  'SELECT * FROM duckdb_views()',
  'SELECT * FROM duckdb_databases()',
  'SELECT * FROM duckdb_secrets()',
  'SELECT * FROM duckdb_temporary_files()',
  'SELECT * FROM duckdb_views',
  'SELECT * FROM information_schema.tables',
  'SELECT * FROM pg_catalog.pg_class',
  'SELECT * FROM pg_class',
  'SELECT * FROM sqlite_master',
  'SELECT * FROM main.orders',
  'SELECT * FROM memory.main.orders',
  'SELECT * FROM native_0.data',
  'SELECT * FROM pragma_database_size()',
  "SELECT * FROM pragma_table_info('orders')",
  "SELECT * FROM enable_logging(storage = 'file', storage_path = 'DIR/log')",
  'SELECT * FROM disable_logging()',
  'SELECT * FROM duckdb_logs',
  'SELECT * FROM duckdb_logs()',
  'SELECT * FROM truncate_duckdb_logs()',
  'SELECT * FROM enable_profiling()',
  'SELECT * FROM checkpoint()',
  'SELECT * FROM force_checkpoint()',
  "SELECT * FROM query('SELECT 1')",
  "SELECT * FROM query_table('orders')",
  "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
  "SELECT json_serialize_sql('SELECT 1')",
  "SELECT json_deserialize_sql('{}')",
  "SELECT * FROM sql_auto_complete('SEL')",
  'SELECT * FROM arrow_scan(1, 2, 3)',
  'SELECT * FROM seq_scan()',
  'SELECT * FROM test_all_types()',
  "SELECT * FROM which_secret('x', 's3')",
  "SELECT current_setting('temp_directory')",
  "SELECT getvariable('x')",
  "SELECT getenv('HOME')",
  'SELECT version()',
  'SELECT current_database()',
  'SELECT current_query()',
  'SELECT current_user',
  'SELECT pg_typeof(1)',
  'SELECT pg_get_viewdef(1)',
  "SELECT nextval('s')",
  "SELECT write_log('x')",
  'SELECT sleep_ms(100000)',
  'SELECT pg_sleep(100)',
  "SELECT json_structure(repeat('[', 200000))",
  "SELECT from_json('[]', repeat('[', 200000))",
  "SELECT json_transform('[]', '[\"JSON\"]')",
  'SELECT sum(amount) EXPORT_STATE FROM orders',
  "SELECT finalize(''::BLOB)",
  "SELECT (SELECT (SELECT max(x) FROM (SELECT current_setting('temp_directory') AS x)))",
  'WITH a AS (WITH b AS (SELECT * FROM duckdb_settings()) SELECT * FROM b) SELECT * FROM a',
  "SELECT * FROM orders WHERE id IN (SELECT 1 FROM read_text('/etc/passwd'))",
  "SELECT * FROM orders ORDER BY current_setting('temp_directory')",
  "SELECT count(*) FILTER (WHERE getvariable('x') = 1) FROM orders",
  'SELECT sum(id) OVER (ORDER BY sleep_ms(1000)) FROM orders',
  "SELECT list_transform([1], lambda x: current_setting('temp_directory'))",
  "SELECT CASE WHEN true THEN current_setting('temp_directory') END",
  'SELECT * FROM orders LIMIT (SELECT count(*) FROM duckdb_settings())',
  "SELECT * FROM orders, LATERAL (SELECT * FROM read_text('/etc/passwd'))",
  'SELECT * FROM orders JOIN duckdb_settings() ON true',
  "SELECT * FROM orders GROUP BY ALL HAVING current_setting('x') = '1'",
  'FROM duckdb_settings() SELECT name',
  'TABLE duckdb_settings',
  "VALUES (current_setting('temp_directory'))",
  "SELECT * FROM (VALUES (current_setting('temp_directory'))) t",
  "PIVOT duckdb_settings() ON name IN ('x') USING count(*)",
  'UNPIVOT duckdb_settings() ON value',
  'WITH orders AS (SELECT * FROM orders) SELECT * FROM secret_table',
  'WITH x AS (SELECT 1) SELECT * FROM (WITH y AS (SELECT 2) SELECT * FROM x), y',
  'SELECT /* hidden */ "current_setting"(\'x\')',
  "SELECT\u00a0current_setting('x')",
  'SELECT system.main.version()',
  "SELECT 'a'.current_setting()",
  `SELECT ${'1+'.repeat(60_000)}1`,
  `SELECT '${'x'.repeat(200_000)}'`,
  'SELECT \0 1',
]

describe('hostile SQL', () => {
  test.each(statements.map((sql) => [sql.length > 120 ? `${sql.slice(0, 120)}…` : sql, sql]))('%s', async (_, sql) => {
    const { engine, catalog, dir, rows } = fixture
    const text = sql.replaceAll('DIR', dir)
    const refusal = { code: 'invalid_request', reason: 'invalid_sql' }
    await expect(engine.inspect('project', catalog, { sql: text, slots: [] })).rejects.toMatchObject(refusal)
    await expect(rows(text)).rejects.toMatchObject(refusal)
    await expect(
      engine.stream('project', catalog, { sql: text, slots: [], maxRows: 10, maxBytes: 1_000 }),
    ).rejects.toMatchObject(refusal)
  })

  test('leaves nothing behind and everything working', async () => {
    expect(await fixture.rows('SELECT count(*) AS n FROM orders')).toEqual([{ n: 10_000 }])
    expect((await readdir(fixture.dir)).sort()).toEqual(['orders.parquet', 'run', 'secret.csv'])
    expect(fixture.observed.filter(({ kind }) => kind === 'executor-lost')).toEqual([])
    expect(fixture.engine.health()).toMatchObject({ ready: true, waiting: 0 })
  })
})
