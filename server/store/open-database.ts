import { hostname } from 'node:os'
import { join } from 'node:path'
import { sql, type Kysely, type Transaction } from 'kysely'
import { Client, Pool, types, type ClientBase, type ClientConfig, type PoolConfig } from 'pg'
import { within } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import { claimPlaceOfFiles, type FilesPlace } from './postgres/data-folder.ts'
import { embeddedServer } from './postgres/embedded.ts'
import { externalServer } from './postgres/external.ts'
import { shareConnections } from './postgres/fair-pool.ts'
import { migrate, readMigrations } from './migrate.ts'
import { readFolderId } from './postgres/places.ts'
import type { Server } from './postgres/server.ts'
import { openStoreSession, type StoreSession } from './postgres/session.ts'
import { openTables, type Tables } from './tables.ts'

export type Database = {
  kind: Server['kind']
  /** Tells what this data folder's processes left behind from what others' did. At most one of them runs. */
  folderId: string
  /** Where the files that the tables name were when it was opened. */
  filesPlace: FilesPlace
  db: Kysely<Tables>
  /** For libraries that bring their own SQL. */
  pool: Pool
  /** Hears a channel; `onReconnect` is called after a gap in which notifications may have been missed. */
  listen(channel: string, onNotify: (payload: string) => void, onReconnect?: () => void): Promise<() => void>
  /** Reaches every listener when the transaction commits, and none when it does not. At most 8000 bytes. */
  notify(trx: Kysely<Tables> | Transaction<Tables>, channel: string, payload: string): Promise<void>
  /** Throws when the database cannot be used. */
  ping(): Promise<void>
  /** Statements sent so far: the warm query path is proved to send none. */
  roundTrips(): number
  close(): Promise<void>
}

export type DatabaseOptions = {
  dataDir: string
  databaseUrl?: string | undefined
  connections: number
  /** Longest time that a statement, or a wait for a connection, may take. */
  timeoutMs: number
  observe: Observe
  migrationsDir?: string
  /** Takes the database for this data folder or bucket, or is refused where another one has it. */
  claims?: boolean
  objectsUrl?: string | undefined
}

/** Changing a table of any size may take longer than a request should. */
const migrationLimitMs = 600_000
/** A connection that is still in use when the app closes gets this long. */
const drainLimitMs = 5_000

/** Opens the database, holds the data folder against other processes, and brings the tables up to date. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { dataDir, databaseUrl, connections, timeoutMs, observe } = options
  const migrations = await readMigrations(options.migrationsDir ?? join(import.meta.dirname, 'migrations'))
  const folderId = await readFolderId(dataDir)
  const server =
    databaseUrl === undefined
      ? await embeddedServer({ dataDir, folderId, connections, observe })
      : externalServer(databaseUrl, timeoutMs)
  const count = countStatements()
  const config = clientConfig(server, timeoutMs)
  const session = await openStoreSession({
    ensure: (signal) => server.ensure(signal),
    connect: async () => {
      const client = count.on(new Client(config))
      // Without a listener a lost connection would end the process; the session hears its end instead.
      client.on('error', () => undefined)
      await client.connect()
      return client
    },
    folderId,
    dataDir,
    observe,
  })
  const pool = openPool({ ...config, max: connections }, observe)
  pool.on('connect', count.on)
  shareConnections(pool, { most: connections, waitMs: timeoutMs })
  const close = closeOnce({ pool, session, server })
  let filesPlace: FilesPlace = 'folder'
  try {
    await server.sweep().catch((error: unknown) => observe({ kind: 'fault', where: 'store', error }))
    const moved = await bringForward(config, (client) => migrate(client, migrations))
    if (moved.to > moved.from) observe({ kind: 'migrated', ...moved })
    if (options.claims === true) {
      filesPlace = await claimPlaceOfFiles(pool, { folderId, dataDir, objectsUrl: options.objectsUrl })
    }
    // Nobody but who holds the folder uses this server: leases in it are those of a process that was killed, and jobs
    // and tables would wait for them to run out.
    if (server.kind === 'embedded') await dropLeases(pool)
  } catch (error) {
    await close()
    throw error
  }
  return {
    kind: server.kind,
    folderId,
    filesPlace,
    db: openTables(pool),
    pool,
    listen: (channel, onNotify, onReconnect = () => undefined) => session.listen(channel, { onNotify, onReconnect }),
    notify: async (trx, channel, payload) => {
      await sql`select pg_notify(${channel}, ${payload})`.execute(trx)
    },
    ping: async () => {
      if (!session.isHeld()) throw new Error('The data folder is not held: the database is away.')
      await pool.query('select 1')
    },
    roundTrips: count.sent,
    close,
  }
}

function clientConfig(server: Server, timeoutMs: number): ClientConfig {
  return {
    ...server.connection,
    // The holder of a data folder is read from this name.
    application_name: `Sluice, process ${process.pid} on ${hostname()}`,
    types: { getTypeParser },
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: timeoutMs,
    // For a server that no longer answers at all; one that does has ended the statement before.
    query_timeout: timeoutMs + 1_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}

/** `bigint` as a number where that is exact, as text beyond. */
function getTypeParser(...[oid, format]: Parameters<typeof types.getTypeParser>): (value: string) => unknown {
  if (oid !== types.builtins.INT8 || format === 'binary') return types.getTypeParser(oid, format)
  return (value) => {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
}

function openPool(config: PoolConfig, observe: Observe): Pool {
  const pool = new Pool(config)
  // Without listeners a connection that breaks would end the process: an idle one here, one in use below.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', (error) => observe({ kind: 'fault', where: 'store', error })))
  return pool
}

function countStatements(): { on: <Some extends ClientBase>(client: Some) => Some; sent: () => number } {
  let sent = 0
  return {
    on: (client) => {
      // oxlint-disable-next-line typescript/unbound-method -- `apply` passes on what it was called on
      client.query = new Proxy(client.query, {
        apply: (query, self, given) => {
          sent += 1
          return Reflect.apply(query, self, given)
        },
      })
      return client
    },
    sent: () => sent,
  }
}

async function bringForward<Result>(config: ClientConfig, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({
    ...config,
    statement_timeout: migrationLimitMs,
    query_timeout: migrationLimitMs + 1_000,
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The server stops while the session still holds the folder: a process that waits for it cannot adopt a dying one. */
function closeOnce({ pool, session, server }: { pool: Pool; session: StoreSession; server: Server }) {
  let closed: Promise<void> | undefined
  const close = async () => {
    await session.leave()
    await within(drainLimitMs, pool.end(), goOn)
    await server.stop()
    await within(drainLimitMs, session.close(), goOn)
  }
  return () => (closed ??= close())
}

/** Closing must not wait for a server that no longer answers. */
function goOn(): void {}

/** Where there are any: a store can be opened with other migrations than ours. */
async function dropLeases(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ there: boolean }>("select to_regclass('public.leases') is not null as there")
  if (rows[0]?.there === true) await pool.query('delete from leases')
}
