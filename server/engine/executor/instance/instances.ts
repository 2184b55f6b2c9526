import { DuckDBInstance, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { partedSql, pastPositions } from './parted.ts'
import type { LocalCatalog, LocalTable, ExecutorSettings, LocalPartedTable, SqlLimits } from '../socket/protocol.ts'
import { quoteName, quoteText } from './sql-text.ts'

/** Stops a call while it runs. */
export type Cancellable = { cancelled: boolean; interrupt: (() => void) | null }

/** A connection and the statements prepared on it. */
export type OpenConnection = { connection: DuckDBConnection; statements: LRUCache<string, DuckDBPreparedStatement> }

/** One scope's tables in one version, in a DuckDB that can reach those files and nothing else. */
export type Instance = {
  catalog: LocalCatalog
  sqlLimits: SqlLimits
  database: DuckDBInstance
  idle: OpenConnection[]
  /** Nobody streams over them at the moment. */
  idleStreams: OpenConnection[]
  /** Nobody writes with it at the moment. */
  exporter: Exporter | null
  activeCalls: number
  openedMs: number
  lastUsedMs: number
  superseded: boolean
  broken: boolean
}

/** The same tables in a DuckDB that may also write one file. */
export type Exporter = { writer: Instance; path: string }

/** An old version still finishes what began on it, and what a caller sends a moment late. */
const supersededCloseMs = 2_000
const maxOpenInstances = 64
/** An empty database takes the engine 5 MB: beyond these, a project stays open only while it is called again and again. */
const restingInstances = 8
const restingCloseMs = 10_000
/** One that was used for no longer than this, and not since, was for one call. */
const briefMs = 1_000
const maxStatementsPerConnection = 48
/** Few queries are streamed, and those again and again. */
const maxStatementsPerStreamConnection = 4
/** As many streams begin at once; who comes beyond waits longer for the first row. */
const streamConnections = 4
/** DuckDB fills this before it gives the first row, and its own is a megabyte: ten times as long. */
const streamBuffer = '64KB'

export type Instances = ReturnType<typeof createInstances>

/** Opens an instance for a scope and version on demand, and closes what nobody uses any more. */
export function createInstances(settings: ExecutorSettings) {
  const open = new Map<string, Promise<Instance>>()
  const ready = new Map<string, { scope: string; instance: Instance }>()

  function close(key: string): void {
    const entry = ready.get(key)
    if (entry === undefined) return
    ready.delete(key)
    open.delete(key)
    closeInstance(entry.instance)
  }

  /** `undefined` when the version is not open and the caller gave no catalog to open it with. */
  async function acquire(
    scope: string,
    version: string,
    catalog: LocalCatalog | undefined,
  ): Promise<Instance | undefined> {
    const key = `${scope}\n${version}`
    if (ready.get(key)?.instance.broken === true) forget(key)
    let opening = open.get(key)
    if (opening === undefined) {
      if (catalog === undefined) return undefined
      if (ready.size >= maxOpenInstances) sweep(performance.now(), 1)
      opening = openInstance(catalog, settings)
      open.set(key, opening)
    }
    try {
      const instance = await opening
      if (!ready.has(key)) supersede(scope)
      ready.set(key, { scope, instance })
      instance.superseded = false
      return instance
    } catch (error) {
      open.delete(key)
      throw error
    }
  }

  function supersede(scope: string): void {
    for (const other of ready.values()) if (other.scope === scope) other.instance.superseded = true
  }

  /** An instance that DuckDB itself gave up on answers every call with the same error; the next call gets a new one. */
  function forget(key: string): void {
    ready.delete(key)
    open.delete(key)
  }

  /** `coming` is how many are about to be opened. */
  function sweep(nowMs: number, coming = 0): void {
    const unused = [...ready].filter(([, { instance }]) => instance.activeCalls === 0)
    unused.sort(([, left], [, right]) => left.instance.lastUsedMs - right.instance.lastUsedMs)
    const [crowded, many] = [ready.size + coming - maxOpenInstances, ready.size - restingInstances]
    for (const [index, [key, { instance }]] of unused.entries()) {
      const wasBrief = instance.lastUsedMs - instance.openedMs < briefMs
      const restMs = index < many ? (wasBrief ? briefMs : restingCloseMs) : settings.idleCloseMs
      const allowedMs = Math.min(settings.idleCloseMs, instance.superseded ? supersededCloseMs : restMs)
      if (index < crowded || nowMs - instance.lastUsedMs > allowedMs) close(key)
    }
  }

  return { acquire, sweep, closeAll: () => [...ready.keys()].forEach(close) }
}

/**
 * The order matters: paths first, then no external access, then the views, then the lock. `allowed_directories` would
 * also allow writing into the folder, so every file is named. `extraPath` is one file that may be written.
 */
export async function openInstance(
  catalog: LocalCatalog,
  settings: ExecutorSettings,
  extraPath?: string,
): Promise<Instance> {
  const database = await DuckDBInstance.create(':memory:', {
    threads: String(settings.threads),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    temp_directory: settings.tempDir,
  })
  const connection = await database.connect()
  const run = (sql: string) => connection.run(sql)
  await run(`SET memory_limit = '${settings.memoryBytes}B'`)
  await run(`SET max_temp_directory_size = '${settings.memoryBytes * 2}B'`)
  await run("SET TimeZone = 'UTC'")
  // Its time grows with the square of the columns: 1.3 s to prepare our JSON of 500 columns, 0.06 s without it.
  await run("SET disabled_optimizers = 'common_subexpressions'")
  const sources = []
  for (const [index, table] of catalog.tables.entries()) sources.push(await sourceOf(connection, table, index))
  const paths = sources.flatMap(({ paths: some }) => some).concat(extraPath ?? [])
  await run(`SET allowed_paths = [${paths.map(quoteText).join(', ')}]`)
  await run('SET enable_external_access = false')
  for (const { name, from, hidden } of sources) {
    const shown = hidden.length === 0 ? '*' : `* EXCLUDE (${hidden.map(quoteName).join(', ')})`
    await run(`CREATE VIEW ${quoteName(name)} AS SELECT ${shown} FROM ${from}`)
  }
  // A setting of a connection, which nobody can change any more after the lock.
  const idleStreams = await Promise.all(
    Array.from({ length: streamConnections }, async () => {
      const each = await database.connect()
      await each.run(`SET streaming_buffer_size = '${streamBuffer}'`)
      return newLease(each, maxStatementsPerStreamConnection)
    }),
  )
  await run('SET lock_configuration = true')
  const idle = [newLease(connection)]
  return {
    catalog,
    sqlLimits: settings.sqlLimits,
    database,
    idle,
    idleStreams,
    exporter: null,
    activeCalls: 0,
    openedMs: performance.now(),
    lastUsedMs: performance.now(),
    superseded: false,
    broken: false,
  }
}

/** Once nobody uses it. */
export function closeInstance({ idle, idleStreams, exporter, database }: Instance): void {
  for (const lease of [...idle, ...idleStreams]) closeLease(lease)
  if (exporter !== null) closeInstance(exporter.writer)
  database.closeSync()
}

type TableSource = { name: string; from: string; paths: string[]; hidden: string[] }

/** The native copy where there is one that opens; the Parquet file is the record and always there. */
async function sourceOf(connection: DuckDBConnection, table: LocalTable, index: number): Promise<TableSource> {
  const { name, parted, hiddenColumns: hidden = [] } = table
  if (parted !== undefined) return partedSource(connection, { name, hidden, parted, index })
  const { from, path } = await fileSource(connection, table, `native_${index}`)
  return { name, from, paths: path === null ? [] : [path], hidden }
}

type FileSource = { from: string; path: string | null }

async function fileSource(
  connection: DuckDBConnection,
  { parquetPath, nativePath }: Pick<LocalTable, 'parquetPath' | 'nativePath'>,
  alias: string,
): Promise<FileSource> {
  const fromParquet = { from: `read_parquet(${quoteText(parquetPath)})`, path: parquetPath }
  if (nativePath === undefined) return fromParquet
  try {
    await connection.run(`ATTACH ${quoteText(nativePath)} AS ${alias} (READ_ONLY)`)
    return { from: `${alias}.data`, path: null }
  } catch {
    return fromParquet
  }
}

/** Which rows are past is kept in memory: every read asks for it. */
async function partedSource(
  connection: DuckDBConnection,
  { name, hidden, parted, index }: { name: string; hidden: string[]; parted: LocalPartedTable; index: number },
): Promise<TableSource> {
  const sources: FileSource[] = []
  const firstPast = new Map<number, number>()
  for (const [place, part] of parted.parts.entries()) {
    if (place < (parted.fromPlace ?? 0)) {
      sources.push({ from: '', path: null })
      continue
    }
    const source = await fileSource(connection, part, `native_${index}_${place}`)
    sources.push(source)
    if (!part.hasPast) continue
    const past = `past.${pastTable(index, place)}`
    await connection.run('CREATE SCHEMA IF NOT EXISTS past')
    await connection.run(`CREATE TABLE ${past} AS ${pastPositions(parted, place)}`)
    const asked = `SELECT (SELECT min(position) FROM ${past}), (SELECT count(*) FROM ${source.from})`
    const [[first, rowCount] = []] = await (await connection.run(asked)).getRows()
    // Otherwise two looks at the part cost more than the join spares.
    if (Number(first) > Number(rowCount) / 2) firstPast.set(place, Number(first))
  }
  const from = partedSql(parted, {
    from: (_, place) => sources[place]?.from ?? '',
    past: (place) => `SELECT position FROM past.${pastTable(index, place)}`,
    firstPast: (place) => firstPast.get(place) ?? null,
  })
  return { name, from: `(${from})`, paths: sources.flatMap(({ path }) => path ?? []), hidden }
}

/** The table of the positions that are past of a part. */
export function pastTable(index: number, place: number): string {
  return `rows_${index}_${place}`
}

/** Runs `use` on a connection of the instance; `cancellable.interrupt` reaches exactly that connection meanwhile. */
export async function withConnection<Result>(
  instance: Instance,
  cancellable: Cancellable,
  use: (lease: OpenConnection) => Promise<Result>,
): Promise<Result> {
  instance.activeCalls += 1
  let lease: OpenConnection | undefined
  try {
    lease = instance.idle.pop() ?? newLease(await instance.database.connect())
    const { connection } = lease
    cancellable.interrupt = () => connection.interrupt()
    throwIfCancelled(cancellable)
    return await use(lease)
  } catch (error) {
    if (isFatal(error)) instance.broken = true
    throw error
  } finally {
    cancellable.interrupt = null
    instance.activeCalls -= 1
    instance.lastUsedMs = performance.now()
    if (lease !== undefined) instance.idle.push(lease)
  }
}

export function throwIfCancelled({ cancelled }: Cancellable): void {
  if (cancelled) throw new Error('INTERRUPT Error: cancelled')
}

/** A connection for one stream at a time. */
export function withStreamConnection<Result>(
  instance: Instance,
  cancellable: Cancellable,
  use: (lease: OpenConnection) => Promise<Result>,
): Promise<Result> {
  return withConnection(instance, cancellable, async () => {
    const reused = instance.idleStreams.pop()
    const lease = reused ?? newLease(await instance.database.connect(), maxStatementsPerStreamConnection)
    const { connection } = lease
    cancellable.interrupt = () => connection.interrupt()
    try {
      return await use(lease)
    } finally {
      if (reused === undefined) closeLease(lease)
      else void giveBack(instance, reused)
    }
  })
}

/** Nobody waits for it: the answer has ended. The instance stays open meanwhile. */
async function giveBack(instance: Instance, lease: OpenConnection): Promise<void> {
  instance.activeCalls += 1
  try {
    if (await isEmptied(lease.connection)) instance.idleStreams.push(lease)
    else closeLease(lease)
  } finally {
    instance.activeCalls -= 1
  }
}

/** A stream that was ended early leaves the rest of its rows in the connection, until its next statement. */
function isEmptied(connection: DuckDBConnection): Promise<boolean> {
  return connection.run('SELECT NULL').then(
    () => true,
    () => false,
  )
}

function isFatal(error: unknown): boolean {
  return error instanceof Error && /^(FATAL|INTERNAL) Error|database has been invalidated/.test(error.message)
}

function newLease(connection: DuckDBConnection, maxStatements = maxStatementsPerConnection): OpenConnection {
  const statements = new LRUCache<string, DuckDBPreparedStatement>({
    max: maxStatements,
    dispose: (statement) => statement.destroySync(),
  })
  return { connection, statements }
}

/** Its statements go first: they are not left to be collected, see `withStatement`. */
function closeLease({ connection, statements }: OpenConnection): void {
  statements.clear()
  connection.closeSync()
}

/**
 * Prepares a statement for one use. One that is only let go of stays in the engine's memory with its plan until
 * JavaScript collects it, and to JavaScript it is small.
 */
export async function withStatement<Result>(
  connection: DuckDBConnection,
  sql: string,
  use: (statement: DuckDBPreparedStatement) => Promise<Result> | Result,
): Promise<Result> {
  const statement = await connection.prepare(sql)
  try {
    return await use(statement)
  } finally {
    statement.destroySync()
  }
}

/** The statement from the connection's cache, prepared when it is not there; the least recently used one makes room. */
export async function prepare(
  { connection, statements }: OpenConnection,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  const known = statements.get(sql)
  if (known !== undefined) return known
  const statement = await connection.prepare(sql)
  statements.set(sql, statement)
  return statement
}
