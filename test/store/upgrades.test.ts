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
