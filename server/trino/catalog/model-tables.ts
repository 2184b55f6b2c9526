import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { columnTypeName, parseColumnType, type Column, type Engine, type WrittenTable } from '../../engine/index.ts'
import type { Bucket, Files } from '../../files/index.ts'
import type { TrinoClient } from '../client/client.ts'
import { tableTooLarge } from '../client/failures.ts'
import type { RunAs } from '../client/run-as.ts'
import { portableType, quoteIdentifier, quoteLiteral, trinoType } from '../client/types.ts'
import type { IcebergCatalog } from './iceberg-catalog.ts'
import { modelSchema, modelTable, modelUser, neededUntil } from './names.ts'

type Parts = {
  client: TrinoClient
  iceberg: IcebergCatalog
  bucket: Pick<Bucket, 'getAt' | 'removeUnder' | 'foldersIn'>
  executors: Pick<Engine, 'writeTable'>
  files: Pick<Files, 'temporaryPath'>
  catalog: string
  /** The folder in which the cluster writes. */
  location: string
  now: () => number
}

type Wanted = {
  projectId: string
  /** Proved to be one SELECT that the project's user may run, and its columns. */
  sql: string
  columns: Column[]
  path: string
  maxRows: number
  maxBytes: number
  timeoutMs: number
}

/** Files of the cluster that are fetched at a time. */
const fetchedAtOnce = 4
/** Trino ends a statement that nobody asks after within five minutes; a table may come to be until then. */
const abandonedMs = 600_000

export type ModelTables = {
  /** The rows of a statement as a table that the workers of the cluster write side by side, then as one file here. */
  write(run: RunAs, wanted: Wanted): Promise<WrittenTable>
  /** Removes what builds left that were killed. */
  sweep(): Promise<void>
}

export function createModelTables(parts: Parts): ModelTables {
  const { client, iceberg, bucket, catalog, location, now } = parts
  const folderOf = (table: string): string => `${location}/${table}/`

  return {
    async write({ signal, ...run }, wanted) {
      const schema = modelSchema(wanted.projectId)
      await iceberg.prepare(schema)
      const name = modelTable(Math.ceil(now() + wanted.timeoutMs + abandonedMs), randomUUID().replaceAll('-', ''))
      const full = (table: string): string => [catalog, schema, table].map(quoteIdentifier).join('.')
      const at = quoteLiteral(folderOf(name))
      try {
        await client.rows({
          ...run,
          sql: `CREATE TABLE ${full(name)} WITH (location = ${at}, format = 'PARQUET') AS ${rowsOf(wanted)}`,
          user: modelUser(wanted.projectId),
          maxWrittenBytes: wanted.maxBytes,
          signal,
        })
        const sql = `SELECT file_path, record_count, file_size_in_bytes FROM ${full(`${name}$files`)} WHERE content = 0`
        const written = (await client.rows({ sql, signal })).map(([address, rowCount, sizeBytes]) => {
          return { address: String(address), rowCount: Number(rowCount), sizeBytes: Number(sizeBytes) }
        })
        const sum = (of: 'rowCount' | 'sizeBytes') => written.reduce((total, file) => total + file[of], 0)
        if (sum('rowCount') > wanted.maxRows) throw tableTooLarge(`${wanted.maxRows} rows`)
        if (sum('sizeBytes') > wanted.maxBytes) throw tableTooLarge(`${wanted.maxBytes} bytes`)
        const addresses = written.map(({ address }) => address)
        return await asOneFile(parts, addresses, { ...wanted, signal })
      } finally {
        await iceberg.discard(schema, name)
        await bucket.removeUnder(folderOf(name))
      }
    },

    async sweep() {
      const time = now()
      await iceberg.discardOverdue(time)
      for (const name of await bucket.foldersIn(`${location}/`)) {
        if ((neededUntil(name) ?? time) < time) await bucket.removeUnder(folderOf(name))
      }
    },
  }
}

/** Under names of our own, as Iceberg tells names apart by less than SQL does here, and in types that it has. */
function rowsOf({ sql, columns }: Pick<Wanted, 'sql' | 'columns'>): string {
  const names = columns.map((_, index) => `c${index}`)
  const values = columns.map(({ type }, index) => {
    const parsed = parseColumnType(type)
    if (columnTypeName(parsed) === 'JSON') return `json_format(c${index}) AS c${index}`
    return `CAST(c${index} AS ${trinoType(portableType(parsed))}) AS c${index}`
  })
  return `SELECT ${values.join(', ')} FROM (\n${sql}\n) AS made (${names.join(', ')})`
}

/** Files of the cluster as one, with the names and types of the statement. */
async function asOneFile(
  { bucket, executors, files }: Parts,
  addresses: string[],
  { projectId, columns, signal, ...wanted }: Wanted & { signal: AbortSignal },
): Promise<WrittenTable> {
  const paths = addresses.map(() => files.temporaryPath('parquet'))
  try {
    const waiting = addresses.map((address, index) => ({ address, path: paths[index] ?? '' }))
    const fetchFiles = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const found = await bucket.getAt(next.address)
        if (found === undefined) throw new Error(`${next.address} is gone before it was read`)
        await pipeline(found.body, createWriteStream(next.path), { signal })
      }
    }
    await Promise.all(Array.from({ length: Math.min(fetchedAtOnce, addresses.length) }, fetchFiles))
    const stored = columns.map(({ type }, index) => {
      return { name: `c${index}`, type: columnTypeName(portableType(parseColumnType(type))) }
    })
    const tables = paths.map((parquetPath, index) => ({ name: `part_${index}`, parquetPath, columns: stored }))
    const none = `SELECT ${stored.map(({ name, type }) => `NULL::${type} AS ${name}`).join(', ')} WHERE false`
    const rows = tables.length === 0 ? none : tables.map(({ name }) => `SELECT * FROM ${name}`).join(' UNION ALL ')
    const values = columns.map(({ name, type }, index) => `c${index}::${typeHere(type)} AS ${quoteIdentifier(name)}`)
    const sql = `SELECT ${values.join(', ')} FROM (${rows}) AS made`
    const local = { projectId, version: `made by the cluster\n${paths.join('\n')}`, tables }
    return await executors.writeTable(projectId, local, { ...wanted, sql }, { timeoutMs: wanted.timeoutMs, signal })
  } finally {
    await Promise.all(paths.map((path) => rm(path, { force: true })))
  }
}

/** Intervals come as text, which DuckDB would read otherwise, and stay it. */
function typeHere(type: string): string {
  const name = columnTypeName(parseColumnType(type))
  return name === 'INTERVAL' ? 'VARCHAR' : name
}
