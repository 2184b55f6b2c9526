import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate, type Migration } from '../../server/store/migrate.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let clients: Client[] = []

beforeEach(async () => {
  database = await createEmptyDatabase()
})

afterEach(async () => {
  for (const client of clients) await client.end()
  clients = []
  await database.drop()
})

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  clients.push(client)
  return client
}

function migration(number: number, sql: string): Migration {
  return { number, name: `step_${number}`, sql, sha256: `hash of ${sql}` }
}

const first = migration(1, 'create table first (id int)')
const second = migration(2, 'create table second (id int)')

async function tables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  )
  return rows.map(({ name }) => name)
}

test('what is new is applied, once, and recorded', async () => {
  const client = await connect()
  expect(await migrate(client, [first])).toEqual({ from: 0, to: 1 })
  expect(await migrate(client, [first, second])).toEqual({ from: 1, to: 2 })
  expect(await migrate(client, [first, second])).toEqual({ from: 2, to: 2 })
  expect(await tables(client)).toEqual(['first', 'second', 'sluice_migrations'])
  const { rows } = await client.query('select number, name, sha256, applied_at from sluice_migrations order by number')
  expect(rows[1]).toEqual({ number: 2, name: 'step_2', sha256: second.sha256, applied_at: expect.any(Date) })
})

test('starters that come together run each migration once', async () => {
  const starters = await Promise.all(Array.from({ length: 6 }, connect))
  // Not "if not exists": a second run would fail.
  const outcomes = await Promise.all(starters.map((client) => migrate(client, [first, second])))
  expect(outcomes.filter(({ from }) => from === 0).length).toBe(1)
  expect(outcomes.filter(({ from }) => from === 2).length).toBe(5)
})

test('a database newer than the code is refused and not touched', async () => {
  const client = await connect()
  await migrate(client, [first, second])
  await expect(migrate(client, [first])).rejects.toThrow(/is at migration 2 and this version knows 1/)
  expect(await tables(client)).toEqual(['first', 'second', 'sluice_migrations'])
})

test('a migration that was changed after it was applied is refused, and nothing after it runs', async () => {
  const client = await connect()
  await migrate(client, [first])
  const edited = { ...first, sha256: 'something else' }
  await expect(migrate(client, [edited, second])).rejects.toThrow(/0001_step_1\.sql was changed/)
  expect(await tables(client)).toEqual(['first', 'sluice_migrations'])
})

test('a migration that was renamed after it was applied is refused', async () => {
  const client = await connect()
  await migrate(client, [first])
  await expect(migrate(client, [{ ...first, name: 'other' }])).rejects.toThrow(/has applied 0001_step_1\.sql, which/)
})

test('a migration that fails leaves no trace, and those before it stay', async () => {
  const client = await connect()
  const broken = migration(2, 'create table half (id int); select 1 / 0')
  await expect(migrate(client, [first, broken])).rejects.toThrow('Migration 2 (step_2) failed: division by zero')
  expect(await tables(client)).toEqual(['first', 'sluice_migrations'])
  expect(await migrate(client, [first, second])).toEqual({ from: 1, to: 2 })
})
