import { createReadStream, createWriteStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Client, type ClientBase } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { embeddedServer } from './postgres/embedded.ts'
import { externalServer } from './postgres/external.ts'
import { readMigrations } from './migrate.ts'
import { openDatabase, type DatabaseOptions } from './open-database.ts'
import { readFolderId } from './postgres/places.ts'
import type { Server } from './postgres/server.ts'

/** A table as it is kept in a folder: its rows as PostgreSQL writes them. A partition names what it is a part of. */
export type TableCopy = {
  schema: string
  name: string
  columns: string[]
  rows: number
  file: string
  partition: { parent: string; bound: string } | null
}
export type AppliedMigration = { number: number; name: string; sha256: string }

/** The database as it is at one moment, whoever writes to it meanwhile. */
export type DatabaseSnapshot = {
  client: ClientBase
  migrations: AppliedMigration[]
  copyTables(folder: string): Promise<TableCopy[]>
  close(): Promise<void>
}

type Options = Omit<DatabaseOptions, 'migrationsDir'>

const migrationsDir = join(import.meta.dirname, 'migrations')
/** Tables of one running process or data folder, or made again by the migrations. */
const notCopied = new Set(['sluice_migrations', 'leases', 'data_folder', 'replicas', 'api_calls'])
const schemas = ['public', 'sluice_partitions']

/** Beside a service that runs, or alone: then the server is started and the data folder held until the end. */
export async function openDatabaseSnapshot(options: Options): Promise<DatabaseSnapshot> {
  const server = await serverOf(options)
  const beside = await connect(server).catch(() => undefined)
  const held = beside === undefined ? await openDatabase(options) : undefined
  const client = beside ?? (await connect(server))
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<AppliedMigration>(
    'select number, name, sha256 from sluice_migrations order by number',
  )
  return {
    client,
    migrations: rows,
    copyTables: (folder) => copyOut(client, folder),
    close: async () => {
      await client.end()
      await held?.close()
    },
  }
}

/** Makes a database of the copies, as the version that made them knew it; the next opening brings it forward. */
export async function restoreTables(
  options: Options,
  { folder, tables, migrations }: { folder: string; tables: TableCopy[]; migrations: AppliedMigration[] },
): Promise<void> {
  const server = await serverOf(options)
  if (server.kind === 'external') await refuseFilled(server)
  const known = await writeMigrations(migrations)
  try {
    const store = await openDatabase({ ...options, migrationsDir: known })
    try {
      const client = await connect(server)
      try {
        await copyIn(client, folder, tables)
      } finally {
        await client.end()
      }
    } finally {
      await store.close()
    }
  } finally {
    await rm(known, { recursive: true, force: true })
  }
}

async function serverOf({ dataDir, databaseUrl, connections, timeoutMs, observe }: Options): Promise<Server> {
  if (databaseUrl !== undefined) return externalServer(databaseUrl, timeoutMs)
  return embeddedServer({ dataDir, folderId: await readFolderId(dataDir), connections, observe })
}

/** Without a limit on statements: a copy takes as long as there are rows. */
async function connect(server: Server): Promise<Client> {
  const client = new Client({ ...server.connection, connectionTimeoutMillis: 10_000, statement_timeout: 0 })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function refuseFilled(server: Server): Promise<void> {
  const client = await connect(server)
  try {
    const found = await client.query<{ there: boolean }>(`select to_regclass('sluice_migrations') is not null as there`)
    if (found.rows[0]?.there === true) throw new Error('The database has an installation already: name an empty one.')
  } finally {
    await client.end()
  }
}

/** The migrations that the copies were made with, which this version must know as they were. */
async function writeMigrations(wanted: AppliedMigration[]): Promise<string> {
  const known = await readMigrations(migrationsDir)
  const files = wanted.map(({ number, name, sha256 }, at) => {
    const file = `${String(number).padStart(4, '0')}_${name}.sql`
    if (known[at]?.sha256 === sha256) return file
    throw new Error(`The backup was made by a newer or another version: ${file} is not known here as it was there.`)
  })
  const folder = await mkdtemp(join(tmpdir(), 'sluice-migrations-'))
  for (const file of files) await copyFile(join(migrationsDir, file), join(folder, file))
  return folder
}

async function copyOut(client: ClientBase, folder: string): Promise<TableCopy[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const tables: TableCopy[] = []
  for (const [at, found] of (await listTables(client)).entries()) {
    const file = `${String(at).padStart(3, '0')}-${found.name}.copy`
    const stream = client.query(copyTo(`copy ${placeOf(found)} to stdout`))
    await pipeline(stream, createWriteStream(join(folder, file), { mode: 0o600 }))
    tables.push({ ...found, rows: stream.rowCount ?? 0, file })
  }
  return tables
}

/** All or nothing; what the migrations put there themselves is in the copies as well. */
async function copyIn(client: Client, folder: string, tables: TableCopy[]): Promise<void> {
  await client.query('begin')
  for (const { schema, name, partition } of tables) {
    if (partition === null) continue
    const child = `${quote(schema)}.${quote(name)}`
    await client.query(`create table if not exists ${child} partition of ${quote(partition.parent)} ${partition.bound}`)
  }
  const names = tables.map(({ schema, name }) => `${quote(schema)}.${quote(name)}`)
  await client.query(`truncate ${names.join(', ')} cascade`)
  for (const table of inOrderOfReferences(tables, await listReferences(client))) {
    const stream = client.query(copyFrom(`copy ${placeOf(table)} from stdin`))
    await pipeline(createReadStream(join(folder, table.file)), stream)
    if ((stream.rowCount ?? 0) !== table.rows) throw new Error(`The copy of ${table.name} is damaged.`)
  }
  await client.query('commit')
}

function placeOf({ schema, name, columns }: Pick<TableCopy, 'schema' | 'name' | 'columns'>): string {
  return `${quote(schema)}.${quote(name)} (${columns.map(quote).join(', ')})`
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

async function listTables(client: ClientBase): Promise<Array<Omit<TableCopy, 'rows' | 'file'>>> {
  const { rows } = await client.query<{
    schema: string
    name: string
    columns: string[]
    parent: string | null
    bound: string | null
  }>(
    `select n.nspname as schema, c.relname as name, p.relname as parent,
            pg_get_expr(c.relpartbound, c.oid) as bound,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                   order by a.attnum) as columns
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       left join pg_inherits i on i.inhrelid = c.oid
       left join pg_class p on p.oid = i.inhparent
      where c.relkind = 'r' and n.nspname = any($1) order by 1, 2`,
    [schemas],
  )
  return rows
    .filter(({ name }) => !notCopied.has(name))
    .map(({ schema, name, columns, parent, bound }) => ({
      schema,
      name,
      columns,
      partition: parent === null || bound === null ? null : { parent, bound },
    }))
}

type Reference = { name: string; refers: string }

async function listReferences(client: ClientBase): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(
    `select c.relname as name, r.relname as refers from pg_constraint k
       join pg_class c on c.oid = k.conrelid join pg_class r on r.oid = k.confrelid where k.contype = 'f'`,
  )
  return rows
}

/** Referenced tables come before the tables that refer to them. */
function inOrderOfReferences(tables: TableCopy[], references: Reference[]): TableCopy[] {
  const ordered = new Set<TableCopy>()
  const visit = (table: TableCopy, trail: string[]): void => {
    if (ordered.has(table) || trail.includes(table.name)) return
    const refers = references.filter(({ name }) => name === table.name || name === table.partition?.parent)
    for (const { refers: wanted } of refers) {
      for (const each of tables) {
        if (each.name === wanted || each.partition?.parent === wanted) visit(each, [...trail, table.name])
      }
    }
    ordered.add(table)
  }
  for (const table of tables) visit(table, [])
  return [...ordered]
}
