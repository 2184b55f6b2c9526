import { join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { migrate, readMigrations } from '../../server/store/migrate.ts'
import { createEmptyDatabase } from '../harness/database.ts'

const folder = join(import.meta.dirname, '../../server/store/migrations')

/** A database as it was after so many migrations. */
async function databaseAt(number: number): Promise<Client> {
  const database = await createEmptyDatabase()
  const client = new Client({ connectionString: database.url })
  onTestFinished(async () => {
    await client.end()
    await database.drop()
  })
  await client.connect()
  await migrate(client, (await readMigrations(folder)).slice(0, number))
  return client
}

test('0008: the log of single calls is still there once calls are written together', async () => {
  const client = await databaseAt(7)
  await client.query(`
    create table sluice_partitions.requests_20261114 partition of requests
      for values from ('2026-11-14T00:00:00Z') to ('2026-11-15T00:00:00Z');
    create table sluice_partitions.requests_20261115 partition of requests
      for values from ('2026-11-15T00:00:00Z') to ('2026-11-16T00:00:00Z');
    insert into requests values
      ('2026-11-14T23:59:59.999Z', 'req_1', 'prj_1', 'production', 'sales', 3, 'direct', 'key_1', 200, null, null,
       1.5, null, 0.5, 1, 12, 345, 'miss', null, null),
      ('2026-11-15T00:00:00Z', 'req_2', 'prj_1', null, null, null, 'question', 'key_1', 422, 'invalid_query', 'no_match',
       4, 4, 0, 0, 0, 0, null, 'What is love?', 0.1)`)
  await migrate(client, await readMigrations(folder))
  const { rows } = await client.query('select * from requests order by at')
  expect(rows).toMatchObject([
    { id: 'req_1', query: 'sales', version: 3, total_ms: 1.5, queue_ms: 0.5, sql_ms: 1, route_ms: null, cache: 'miss' },
    { id: 'req_2', query: null, reason: 'no_match', route_ms: 4, queue_ms: 0, question: 'What is love?' },
  ])
  expect(rows.map(({ at }) => at.toISOString())).toEqual(['2026-11-14T23:59:59.999Z', '2026-11-15T00:00:00.000Z'])
})

test('0012: the newest version of every table goes on serving, and those before it may serve again', async () => {
  const client = await databaseAt(11)
  await client.query(`
    insert into projects (id, name) values ('prj_1', 'Shop');
    insert into datasources (id, project_id, name, kind, table_name) values
      ('ds_1', 'prj_1', 'A', 'http_api', 'a'), ('ds_2', 'prj_1', 'B', 'http_api', 'b');
    insert into data_objects (id, project_id, datasource_id, kind, format, version, file_hash, size_bytes)
    select 'obj_' || kind || source || version, 'prj_1', source, kind, 'parquet', version, 'x', 1
    from unnest(array['ds_1', 'ds_2']) as source, unnest(array['response_data', 'prepared']) as kind,
      generate_series(1, 2) as version`)
  await migrate(client, await readMigrations(folder))
  const { rows } = await client.query(
    'select id, activated_at is not null as served from data_objects where is_live order by id',
  )
  expect(rows).toEqual([
    { id: 'obj_response_datads_12', served: true },
    { id: 'obj_response_datads_22', served: true },
  ])
  const served = await client.query('select count(*)::int as many from data_objects where activated_at is not null')
  expect(served.rows).toEqual([{ many: 4 }])
})

test('0029: figures by five minutes and 16 days go, and each call is still counted by minute, hour and day', async () => {
  const client = await databaseAt(28)
  await client.query(`
    create table sluice_partitions.rollups_202611 partition of usage_rollups
      for values from ('2026-11-01T00:00:00Z') to ('2026-12-01T00:00:00Z');
    insert into usage_rollups
    select 'prj_1', grain, '2026-11-02T00:00:00Z', 1, 'production', 'sales', 1, 'key_1', 'direct', 200, '', '', '',
           7, 70, 35, 21, 700, '{10}', '{7}'
    from unnest(array['minute', 'five', 'hour', 'day', 'span', 'minute-sum', 'five-sum', 'hour-sum', 'day-sum']) as grain;
    insert into usage_progress
    select grain, '2026-11-03T00:00:00Z'
    from unnest(array['five', 'hour', 'day', 'span', 'minute-sum', 'five-sum', 'hour-sum', 'day-sum', 'question-hour'])
      as grain`)
  await migrate(client, await readMigrations(folder))
  const figures = await client.query('select grain, calls::int, counts from usage_rollups order by grain')
  const grains = ['day', 'day-sum', 'hour', 'hour-sum', 'minute', 'minute-sum']
  expect(figures.rows).toEqual(grains.map((grain) => ({ grain, calls: 7, counts: ['7'] })))
  const progress = await client.query('select grain from usage_progress order by grain')
  expect(progress.rows.map(({ grain }) => grain)).toEqual([
    'day',
    'day-sum',
    'hour',
    'hour-sum',
    'minute-sum',
    'question-hour',
  ])
})

test('0040: a version that was loaded whole is a list of one part, which has its copy; what was loaded bit by bit stays', async () => {
  const client = await databaseAt(39)
  await client.query(`
    insert into projects (id, name) values ('prj_1', 'Shop');
    insert into datasources (id, project_id, name, kind, table_name) values
      ('ds_1', 'prj_1', 'A', 'http_api', 'a'), ('ds_2', 'prj_1', 'B', 'http_api', 'b');
    insert into data_objects
      (id, project_id, datasource_id, kind, format, version, file_hash, size_bytes, row_count, columns, load)
    values
      ('obj_r', 'prj_1', 'ds_1', 'request_config', 'json', 1, 'request', 3, null, null, null),
      ('obj_1', 'prj_1', 'ds_1', 'response_data', 'parquet', 1, 'rows 1', 10, 7, '[{"name": "x", "type": "BIGINT"}]', null),
      ('obj_2', 'prj_1', 'ds_1', 'response_data', 'parquet', 2, 'rows 2', 20, 8, '[]', null),
      ('obj_c', 'prj_1', 'ds_1', 'prepared', 'duckdb', 1, 'copy 1', 40, 7, null, null),
      ('obj_3', 'prj_1', 'ds_2', 'response_data', 'parquet', 1, 'rows 3', 5, 9, '[]', '{"mode": "append"}');
    insert into data_parts (id, project_id, datasource_id, file_hash, size_bytes, row_count, columns, loads)
      values ('prt_x', 'prj_1', 'ds_2', 'rows 3', 30, 9, '[]', '{1}');
    insert into version_parts values ('obj_3', 0, 'prt_x');
    insert into lineage values ('prj_1', 'ds_1', 'obj_r'), ('prj_1', 'obj_r', 'obj_1'), ('prj_1', 'obj_1', 'obj_c')`)
  const bytes = `select (select sum(size_bytes) from data_objects)::int + sum(size_bytes + coalesce(native_bytes, 0))::int
    as bytes from data_parts`
  await migrate(client, await readMigrations(folder))
  const parts = await client.query(
    `select data_object_id, place, file_hash, size_bytes::int, row_count::int, columns, loads, native_hash, native_bytes::int
     from version_parts join data_parts on data_parts.id = part_id order by data_object_id`,
  )
  expect(parts.rows).toEqual([
    {
      data_object_id: 'obj_1',
      place: 0,
      file_hash: 'rows 1',
      size_bytes: 10,
      row_count: 7,
      columns: [{ name: 'x', type: 'BIGINT' }],
      loads: [1],
      native_hash: 'copy 1',
      native_bytes: 40,
    },
    expect.objectContaining({ data_object_id: 'obj_2', file_hash: 'rows 2', loads: [2], native_hash: null }),
    expect.objectContaining({ data_object_id: 'obj_3', file_hash: 'rows 3', size_bytes: 30 }),
  ])
  const objects = await client.query('select id, size_bytes::int from data_objects order by id')
  expect(objects.rows).toEqual([
    { id: 'obj_1', size_bytes: 0 },
    { id: 'obj_2', size_bytes: 0 },
    { id: 'obj_3', size_bytes: 5 },
    { id: 'obj_r', size_bytes: 3 },
  ])
  // What is stored is as large as it was.
  expect((await client.query(bytes)).rows).toEqual([{ bytes: 3 + 10 + 20 + 40 + 5 + 30 }])
  expect((await client.query('select to_id from lineage order by 1')).rows).toEqual([
    { to_id: 'obj_1' },
    { to_id: 'obj_r' },
  ])
})
