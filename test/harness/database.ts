import { randomBytes } from 'node:crypto'
import { Client, Pool, type ClientConfig } from 'pg'
import { inject } from 'vitest'
import { openQueue } from '../../server/jobs/queue.ts'
import type { Observation } from '../../server/observe.ts'
import { migrate, readMigrations } from '../../server/store/migrate.ts'

export type TestDatabase = { url: string; drop: () => Promise<void> }

/** A fresh database with every migration applied: a copy of the run's template, made in milliseconds. */
export async function createDatabase(): Promise<TestDatabase> {
  const template = new URL(inject('templateUrl'))
  const url = sibling(template, newName(copiesOf(template)))
  await atMaintenance(template, `create database ${nameIn(url)} template ${nameIn(template)} strategy file_copy`)
  return { url: url.href, drop: () => dropDatabase(url.href) }
}

/** An empty database beside the run's template, for tests that bring their own tables. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const template = new URL(inject('templateUrl'))
  const url = sibling(template, newName('empty'))
  await atMaintenance(template, `create database ${nameIn(url)}`)
  return { url: url.href, drop: () => dropDatabase(url.href) }
}

/** `end` of a pool does not wait for its connections to close: dropping the database may cut one that is still leaving. */
export function openPool(database: TestDatabase): Pool {
  const pool = new Pool({ connectionString: database.url })
  pool.on('error', () => undefined)
  return pool
}

export async function makeTemplate(serverUrl: string, migrationsDir: string): Promise<string> {
  const url = sibling(new URL(serverUrl), newName('template'))
  await atMaintenance(url, `create database ${nameIn(url)}`)
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await migrate(client, await readMigrations(migrationsDir))
  await client.end()
  await makeQueue(url)
  // Not even autovacuum may be inside while it is copied.
  await atMaintenance(url, `alter database ${nameIn(url)} allow_connections false`)
  return url.href
}

/** The tables of the queue, which are half of what a new database needs. */
async function makeQueue(url: URL): Promise<void> {
  const pool = new Pool({ connectionString: url.href, max: 2 })
  const observe = (event: Observation): void => {
    if (event.kind === 'fault') throw event.error
  }
  const queue = await openQueue({ store: { pool }, observe, leaseSeconds: 10, retrySeconds: 1 })
  await queue.close()
  await pool.end()
}

/** With the copies that processes have left, whose last user is gone. */
export async function dropTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: sibling(new URL(url), 'postgres').href })
  await client.connect()
  try {
    const like = `sluice_${copiesOf(new URL(url))}_%`
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database where datname like $1', [
      like,
    ])
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  } finally {
    await client.end()
  }
  await dropDatabase(url)
}

export async function dropDatabase(url: string): Promise<void> {
  await atMaintenance(new URL(url), `drop database if exists ${nameIn(new URL(url))} with (force)`)
}

/** A URL for a server that is reached through a socket: the folder travels as a parameter. */
export function databaseUrl({ host = '', port = 5432, user = '', database = '' }: ClientConfig): string {
  const query = new URLSearchParams({ host, port: String(port) })
  return `postgresql://${encodeURIComponent(user)}@localhost/${database}?${query.toString()}`
}

async function atMaintenance(url: URL, statement: string): Promise<void> {
  const client = new Client({ connectionString: sibling(url, 'postgres').href })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function sibling(url: URL, database: string): URL {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other
}

function copiesOf(template: URL): string {
  return `test_${nameIn(template).split('_').at(-1)}`
}

function nameIn(url: URL): string {
  return url.pathname.slice(1)
}

function newName(kind: string): string {
  return `sluice_${kind}_${randomBytes(6).toString('hex')}`
}
