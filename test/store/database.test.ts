import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Pool } from 'pg'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { Observation } from '../../server/observe.ts'
import { asStoreFailure, inTransaction, openDatabase, type Database } from '../../server/store/index.ts'
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../harness/database.ts'

let server: TestDatabase
let database: Database
let folder: string
const observations: Observation[] = []

function open(url: string, name: string): Promise<Database> {
  const observe = (observation: Observation) => observations.push(observation)
  const migrationsDir = join(folder, 'migrations')
  return openDatabase({
    dataDir: join(folder, name),
    databaseUrl: url,
    connections: 4,
    timeoutMs: 2_000,
    observe,
    migrationsDir,
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-store-'))
  await mkdir(join(folder, 'migrations'))
  await writeFile(join(folder, 'migrations', '0001_notes.sql'), 'create table notes (id bigint primary key);')
  server = await createEmptyDatabase()
  database = await open(server.url, 'data')
})

afterAll(async () => {
  await database.close()
  await server.drop()
  await rm(folder, { recursive: true })
})

test('a bigint is a number where that is exact and text beyond; a timestamp is a Date', async () => {
  const { rows } = await sql`select 9007199254740991 as exact, 9007199254740992 as beyond, now() as at`.execute(
    database.db,
  )
  expect(rows[0]).toEqual({ exact: 9_007_199_254_740_991, beyond: '9007199254740992', at: expect.any(Date) })
})

test('a notification arrives when its transaction commits, and not when it does not', async () => {
  const heard: string[] = []
  const unlisten = await database.listen('notes', (payload) => heard.push(payload))
  await expect(
    database.db.transaction().execute(async (trx) => {
      await database.notify(trx, 'notes', 'undone')
      throw new Error('undo')
    }),
  ).rejects.toThrow('undo')
  await database.db.transaction().execute((trx) => database.notify(trx, 'notes', 'done'))
  await vi.waitFor(() => expect(heard).toEqual(['done']), 10_000)
  unlisten()
})

test('a listener that throws keeps neither the others nor later ones from hearing', async () => {
  const heard: string[] = []
  const unlistens = [
    await database.listen('shared', () => {
      throw new Error('bad listener')
    }),
    await database.listen('shared', (payload) => heard.push(payload)),
  ]
  await database.notify(database.db, 'shared', 'one')
  await database.notify(database.db, 'shared', 'two')
  await vi.waitFor(() => expect(heard).toEqual(['one', 'two']), 10_000)
  for (const unlisten of unlistens) unlisten()
})

test('every statement is counted, and nothing is when none is sent', async () => {
  await database.ping()
  const before = database.roundTrips()
  await database.db.transaction().execute((trx) => sql`select 1`.execute(trx))
  await database.pool.query('select 1')
  expect(database.roundTrips() - before).toBe(4)
})

test('after every connection is cut, listeners hear again and are told of the gap', async () => {
  const [heard, gaps]: [string[], string[]] = [[], []]
  await database.listen(
    'cut',
    (payload) => heard.push(payload),
    () => gaps.push('gap'),
  )
  await cutConnections(server.url)
  await vi.waitFor(() => expect(gaps).toEqual(['gap']), { timeout: 10_000 })
  // The pool meets its broken connections one by one.
  await vi.waitFor(() => database.ping(), 10_000)
  await database.notify(database.db, 'cut', 'again')
  await vi.waitFor(() => expect(heard).toEqual(['again']), 10_000)
  expect(observations.map(({ kind }) => kind)).toContain('database-recovered')
})

test('a connection that is cut in a transaction fails that transaction, not the process', async () => {
  const work = database.db.transaction().execute(async (trx): Promise<void> => {
    await sql`insert into notes values (1)`.execute(trx)
    await cutConnections(server.url)
    await sql`insert into notes values (2)`.execute(trx)
  })
  const error = await work.catch(asStoreFailure)
  expect(error).toMatchObject({ code: 'overloaded' })
  await vi.waitFor(() => database.ping(), { timeout: 10_000 })
  const { rows } = await database.pool.query('select id from notes')
  expect(rows).toEqual([])
})

test('a statement past the limit is ended by the server', async () => {
  await expect(database.pool.query('select pg_sleep(30)')).rejects.toMatchObject({ code: '57014' })
})

test('a second process on the data folder is refused and told who has it; one on another folder is not', async () => {
  await expect(open(server.url, 'data')).rejects.toThrow(
    new RegExp(`data is in use by Sluice, process ${process.pid} on `),
  )
  const other = await open(server.url, 'other')
  await other.ping()
  await other.close()
  await database.ping()
})

test('a server that cannot be reached is named in one line, without the password', async () => {
  const opening = open('postgresql://someone:hunter2@127.0.0.1:1/nowhere', 'unreachable')
  const error = await opening.then(
    () => undefined,
    (reason: Error) => reason,
  )
  expect(error?.message).toMatch(/^SLUICE_DATABASE_URL: PostgreSQL at 127\.0\.0\.1:1, database nowhere cannot be used/)
  expect(error?.message).not.toMatch(/hunter2|\n/)
})

test('a copy of the template is a database of its own', async () => {
  const copy = await createDatabase()
  onTestFinished(copy.drop)
  const client = new Client({ connectionString: copy.url })
  await client.connect()
  const { rows } = await client.query('select current_database() as name')
  await client.end()
  expect(rows).toEqual([{ name: new URL(copy.url).pathname.slice(1) }])
})

async function cutConnections(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await client.end()
}

test('a connection that does not take a failed transaction back is not given to anybody else', async () => {
  // Its client gives up on a statement long before the server does.
  const pool = new Pool({ connectionString: server.url, max: 1, query_timeout: 100 })
  onTestFinished(() => pool.end())
  pool.on('error', () => undefined)
  const stuck = inTransaction({ pool }, async (connection) => void (await connection.query('select pg_sleep(3)')))
  await expect(stuck).rejects.toThrow('Query read timeout')
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})
