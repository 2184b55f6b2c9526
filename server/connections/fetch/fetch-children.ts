import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import type { ForEach, HttpConfiguration } from '../../../api/connections.ts'
import type { AnswerBody, QueryEngine, RowsPageCall } from '../../engine/index.ts'
import type { Catalogs } from '../../data/index.ts'
import { Failure, invalidField } from '../../failure.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import type { LoadWarning } from '../../store/index.ts'
import type { FetchedRows, FetchOptions } from './download.ts'
import { fetchRows } from './fetch-rows.ts'
import { nothingSeen, warningsOf } from './whole.ts'
import { sqlName } from '../request/sql-name.ts'
import { rowColumnsIn } from '../request/variables.ts'

/** One row of the other table: each column as text for the request, and as JSON for the rows that come. */
export type Parent = Record<string, { text: string; json: string }>
/** `isCut`: there are more rows than requests that one load may make. `digest` is the same for the same rows. */
export type Parents = { rows: Parent[]; isCut: boolean; digest: string }

/** Progress of a load of children, in a form that can be stored. */
export type ChildrenState = {
  at: string
  sizeBytes: number
  responseBytes: number
  /** Requests that are done, in the order of the rows. */
  done: number
  /** Requests among them that the API knew nothing of. */
  missing: number
  rows: number
  warnings: LoadWarning[]
}

type Checkpoint = { resumed: ChildrenState | null; save(state: ChildrenState): Promise<void> }
type Options = Omit<FetchOptions, 'checkpoint'> & {
  checkpoint?: Checkpoint | undefined
  /** Null for the windows of a load: what comes gets no columns of theirs. */
  forEach: ForEach | null
  parents: Parents
  atOnce: number
}

const maxParentBytes = 268_435_456

/** The rows of the other table that requests are made for, each combination of values once, in an order of their own. */
export async function readParents(
  app: { catalogs: Catalogs; engine: QueryEngine },
  projectId: string,
  { configuration, forEach, tableName }: { configuration: HttpConfiguration; forEach: ForEach; tableName: string },
): Promise<Parents> {
  const columns = [...new Set([...rowColumnsIn(configuration), ...Object.values(forEach.keys ?? {})])]
  if (columns.length === 0)
    throw invalidField('config', 'names no column of the other table: write {{row.id}} somewhere')
  if (forEach.table === tableName) throw invalidField('for_each.table', 'is the table itself')
  const catalog = await app.catalogs.get(projectId)
  const table = catalog.tables.find(({ name }) => name === forEach.table)
  if (table === undefined)
    throw invalidField(
      'for_each.table',
      `names ${forEach.table}, which has no data yet: this table is loaded for the first time once ${forEach.table} is`,
    )
  const missing = columns.find((column) => !table.columns.some(({ name }) => name === column))
  if (missing !== undefined) {
    // A table that came without rows may not have its columns yet.
    const some = `SELECT 1 AS one FROM ${sqlName(forEach.table)}`
    const asked = { sql: some, slots: [], maxRows: 1, maxBytes: 1_000 }
    const { bytes } = await app.engine.read(projectId, catalog, { dialect: 'duckdb', format: 'ndjson', ...asked })
    if (bytes.length === 0) return { rows: [], isCut: false, digest: 'none' }
    throw invalidField('for_each', `needs the column ${missing}, which ${forEach.table} does not have`)
  }
  const names = columns.map(sqlName)
  const texts = names.map((name, index) => `CAST(${name} AS VARCHAR) AS t${index}`)
  const values = names.map((name, index) => `CAST(to_json(${name}) AS VARCHAR) AS j${index}`)
  const places = texts.map((_, index) => index + 1)
  const { chunks, end } = await app.engine.stream(projectId, catalog, {
    dialect: 'duckdb',
    format: 'ndjson',
    sql: `SELECT DISTINCT ${[...texts, ...values].join(', ')} FROM ${sqlName(forEach.table)} WHERE ${names
      .map((name) => `${name} IS NOT NULL`)
      .join(' AND ')} ORDER BY ${places.join(', ')}`,
    slots: [],
    maxRows: forEach.max_requests,
    maxBytes: maxParentBytes,
  })
  const rows: Parent[] = []
  const hash = createHash('sha256')
  for await (const { bytes } of chunks) {
    hash.update(bytes)
    // Whole lines: a million rows, or a few of megabytes, hold nobody up.
    for (const line of bytes.toString().split('\n')) {
      await yieldToEventLoop()
      if (line !== '') rows.push(parentOf(JSON.parse(line) as Record<string, string>, columns))
    }
  }
  return { rows, isCut: end()?.truncated ?? true, digest: hash.digest('base64url') }
}

function parentOf(row: Record<string, string>, columns: string[]): Parent {
  return Object.fromEntries(
    columns.map((column, index) => [column, { text: row[`t${index}`] ?? '', json: row[`j${index}`] ?? 'null' }]),
  )
}

/** A request for each row of another table, some at a time; the rows that come are kept in the order of those. */
export async function fetchChildren(template: HttpConfiguration, options: Options): Promise<FetchedRows> {
  const { parents, checkpoint, limits, rowsPath, onPage, atOnce } = options
  const resumed = checkpoint?.resumed ?? null
  const at = resumed === null ? (options.at ?? new Date()) : new Date(resumed.at)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(limits.timeoutMs - (performance.now() - started)))
  const begun = { done: 0, missing: 0, rows: 0, responseBytes: 0, warnings: [] as LoadWarning[] }
  let { done, missing, rows, responseBytes, warnings } = resumed ?? begun
  let truncated = parents.isCut
  if (resumed === null) await writeFile(rowsPath, '')
  try {
    while (done < parents.rows.length) {
      options.signal?.throwIfAborted()
      if (left() <= 1) throw tooLong(done, parents.rows.length, checkpoint !== undefined)
      const room = limits.responseBytes - responseBytes
      const share = Math.max(1, Math.floor(room / atOnce))
      const batch = parents.rows.slice(done, done + atOnce)
      const fetched = await fetchBatch(batch, (parent, index) =>
        fetchOne(
          template,
          { ...options, at, limits: { ...limits, timeoutMs: left(), responseBytes: share } },
          parent,
          index,
        ),
      )
      for (const [index, child] of fetched.entries()) {
        if (child === null) missing += 1
        else {
          const came = await append(options, child, leadOf(template, options, batch[index] ?? {}))
          rows += came
          warnings = withThose(warnings, warningsOf(child.seen(came), options.pagination, {}))
          responseBytes += child.responseBytes
          truncated ||= child.truncated
        }
        await forget(options, index)
      }
      done += batch.length
      const estimate = { rows: Math.round((rows * parents.rows.length) / done), from: 'requests' as const }
      onPage?.({ pages: done, rows, bytes: responseBytes, estimate })
      const sizeBytes = (await stat(rowsPath)).size
      await checkpoint?.save({ at: at.toISOString(), sizeBytes, responseBytes, done, missing, rows, warnings })
    }
  } catch (error) {
    await Promise.all(Array.from({ length: atOnce }, (_, index) => forget(options, index)))
    if (checkpoint === undefined) await rm(rowsPath, { force: true })
    throw error
  }
  if (missing > 0 && missing === parents.rows.length) throw allMissing(missing)
  const elapsedMs = Math.round(performance.now() - started)
  const source = { kind: 'ndjson' as const, path: rowsPath }
  const seen = (count: number) => ({ ...nothingSeen, rows: count })
  return { source, pages: done, truncated, responseBytes, elapsedMs, seen, warnings, validators: null }
}

/** First warning of each kind, with the rows of all. */
function withThose(known: LoadWarning[], more: LoadWarning[]): LoadWarning[] {
  const byCode = new Map(known.map((each) => [each.code, each]))
  for (const each of more) {
    const same = byCode.get(each.code)
    const { expected } = each
    const total = same === undefined || expected === undefined ? expected : expected + (same.expected ?? 0)
    const received = each.received + (same?.received ?? 0)
    byCode.set(each.code, { ...(same ?? each), ...(total !== undefined && { expected: total }), received })
  }
  return [...byCode.values()]
}

/** Waits for all before it fails, so that none goes on behind the back of the next attempt. */
async function fetchBatch<Result>(
  batch: Parent[],
  fetchOne: (parent: Parent, index: number) => Promise<Result>,
): Promise<Result[]> {
  const settled = await Promise.allSettled(batch.map(fetchOne))
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}

const paths = ({ bodyPath, rowsPath }: Options, index: number) => ({
  bodyPath: `${bodyPath}.${index}`,
  rowsPath: `${rowsPath}.${index}`,
})

async function forget(options: Options, index: number): Promise<void> {
  await Promise.all(Object.values(paths(options, index)).map((path) => rm(path, { force: true })))
}

/** Null where the API knows nothing of this row: many answer 404 where there are no children. */
async function fetchOne(
  template: HttpConfiguration,
  options: Options,
  parent: Parent,
  index: number,
): Promise<FetchedRows | null> {
  const row = new Map(Object.entries(parent).map(([column, { text }]) => [column, text]))
  const { checkpoint: _own, onPage: _ours, ahead: _ahead, ...shared } = options
  try {
    return await fetchRows(template, { ...shared, ...paths(options, index), row })
  } catch (error) {
    const status = error instanceof Failure && error.reason === 'status' ? error.fields?.['upstream_status'] : undefined
    if (status === 404 || status === 410) return null
    throw error
  }
}

async function append(options: Options, { source }: FetchedRows, lead: RowsPageCall['lead']): Promise<number> {
  const { maxDepth } = options.limits
  const isEmpty = (await stat(source.path)).size === 0
  if (isEmpty) return 0
  const lines = { path: source.path, contentType: 'application/x-ndjson', extractor: undefined, maxDepth }
  const csv = { ...lines, contentType: 'text/csv' }
  const body: AnswerBody = source.kind === 'answer' ? source : source.kind === 'csv' ? csv : lines
  const { path, contentType, extractor, included } = body
  const call = {
    body: { path, contentType, extractor, included, maxDepth },
    rowsPath: options.rowsPath,
    columns: undefined,
    lead,
  }
  return (await options.appendPage(call)).rowCount
}

/** Columns that the rows get from those of the other table, by their names. */
export function keysOf(template: HttpConfiguration, { keys, table }: ForEach): Record<string, string> {
  return keys ?? Object.fromEntries(rowColumnsIn(template).map((column) => [`${table}_${column}`, column]))
}

function leadOf(template: HttpConfiguration, { forEach }: Options, parent: Parent): RowsPageCall['lead'] {
  if (forEach === null) return undefined
  const keys = keysOf(template, forEach)
  return Object.fromEntries(Object.entries(keys).map(([name, column]) => [name, parent[column]?.json ?? 'null']))
}

function tooLong(done: number, all: number, goesOn: boolean): Failure {
  const hint = goesOn ? 'The next attempt goes on from there.' : 'Refresh the datasource instead: that may take hours.'
  const message = `${done} of ${all} requests were made in the time that a load like this may take. ${hint}`
  return new Failure('upstream_timeout', { message })
}

function allMissing(count: number): Failure {
  const message = `The external API answered 404 to all ${count} requests. Check the URL, and which column of the other table it names.`
  return new Failure('upstream_error', { reason: 'status', message, fields: { upstream_status: 404 } })
}
