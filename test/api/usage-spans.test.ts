import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../server/config.ts'
import { openDatabase, type Database } from '../../server/store/index.ts'
import { keepUsage } from '../../server/usage/index.ts'
import { openPartitions } from '../../server/usage/stored/partitions.ts'
import { createDatabase } from '../harness/database.ts'

async function openStore(): Promise<Database> {
  const database = await createDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-spans-'))
  const observe = () => undefined
  const store = await openDatabase({ dataDir, databaseUrl: database.url, connections: 2, timeoutMs: 5_000, observe })
  onTestFinished(async () => {
    await store.close()
    await database.drop()
    await rm(dataDir, { recursive: true })
  })
  return store
}

const figures = { writer: 1, environment: 'production', query: 'q', version: 1, keyId: 'key_1', entry: 'direct' }
const outcome = { status: 200, error: '', reason: '', cache: '' }
const sums = { totalMs: 10, sqlMs: 5, rows: 1, bytes: 1, buckets: [1], counts: [1] }

test('days become a span of 16, also where it begins in a month of which there are no figures', async () => {
  const store = await openStore()
  const config = readConfig({})
  if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
  const days = ['2027-05-02', '2027-05-03'].map((day) => new Date(`${day}T00:00:00Z`))
  await openPartitions(store).ensure({ rollups: days.map(Number) })
  const rows = days.map((start) => ({
    projectId: 'prj_1',
    grain: 'day',
    start,
    calls: 3,
    ...figures,
    ...outcome,
    ...sums,
  }))
  await store.db.insertInto('usageRollups').values(rows).execute()
  const now = Date.parse('2027-05-13T00:00:00Z')
  // All but spans are up to date.
  const grains = ['five', 'hour', 'day', 'minute-sum', 'five-sum', 'hour-sum', 'day-sum']
  const progress = grains.map((grain) => ({ grain, until: new Date(now) }))
  await store.db.insertInto('usageProgress').values(progress).execute()
  await keepUsage({ store, config, now: () => now })
  const spans = await store.db
    .selectFrom('usageRollups')
    .select(['start', 'calls'])
    .where('grain', '=', 'span')
    .execute()
  expect(spans).toEqual([{ start: new Date('2027-04-20T00:00:00Z'), calls: 6 }])
})
