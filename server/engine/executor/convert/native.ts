import { rm, stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { moveWhole } from './convert.ts'
import { withFiles } from '../instance/file-database.ts'
import type { Cancellable } from '../instance/instances.ts'
import { tableColumns, rowsOf } from '../profile/profile.ts'
import type { ExecutorSettings, NativeCall } from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

/** Below this a scan is as quick as an index. */
const indexedRowsMin = 5_000
const maxIndexes = 2
/** Every column of every part of a table fills at least one block: those of a wide one would fill the memory. */
const wideColumns = 200
const wideBlockBytes = 16_384

/**
 * A copy of a Parquet file as a DuckDB database with one table, `data`: 6 to 12 times quicker to look things up in.
 * Columns whose values are all different get an index, since those are what calls look up by.
 */
export async function buildNative(
  settings: ExecutorSettings,
  call: Cancellable,
  input: NativeCall,
): Promise<{ sizeBytes: number }> {
  const { parquetPath, nativePath } = input
  const temporary = `${nativePath}.partial`
  const leftovers = ['', '.wal', '.wal.checkpoint', '.wal.recovery', '.tmp'].map((end) => temporary + end)
  await Promise.all(leftovers.map((path) => rm(path, { force: true, recursive: true })))
  try {
    await withFiles(settings, [parquetPath, ...leftovers], async (connection) => {
      call.interrupt = () => connection.interrupt()
      const table = `read_parquet(${quoteText(parquetPath)})`
      const isWide = (await tableColumns(connection, table)).length > wideColumns
      await connection.run(`ATTACH ${quoteText(temporary)} AS copy${isWide ? ` (BLOCK_SIZE ${wideBlockBytes})` : ''}`)
      await connection.run(`CREATE TABLE copy.data AS SELECT * FROM ${table}`)
      for (const [index, column] of (await uniqueColumns(connection)).entries()) {
        await connection.run(`CREATE INDEX lookup_${index} ON copy.data (${quoteName(column)})`)
      }
      await connection.run('CHECKPOINT copy')
      await connection.run('DETACH copy')
    })
    await moveWhole(temporary, nativePath)
    return { sizeBytes: (await stat(nativePath)).size }
  } finally {
    await Promise.all(leftovers.map((path) => rm(path, { force: true, recursive: true })))
  }
}

async function uniqueColumns(connection: DuckDBConnection): Promise<string[]> {
  const columns = (await tableColumns(connection, 'copy.data')).filter(({ type }) =>
    /^(BIGINT|INTEGER|HUGEINT|VARCHAR|UUID)$/.test(type),
  )
  const [counted] = await rowsOf(connection, 'SELECT count(*) FROM copy.data')
  const rowCount = Number(counted?.[0] ?? 0)
  if (rowCount < indexedRowsMin || columns.length === 0) return []
  const estimates = columns.map(({ name }) => `approx_count_distinct(${quoteName(name)})`)
  const [estimated = []] = await rowsOf(connection, `SELECT ${estimates.join(', ')} FROM copy.data`)
  const likely = columns.filter((_, index) => Number(estimated[index]) > rowCount * 0.9)
  const unique: string[] = []
  for (const { name } of likely) {
    if (unique.length === maxIndexes) break
    const [exact] = await rowsOf(connection, `SELECT count(DISTINCT ${quoteName(name)}) FROM copy.data`)
    if (Number(exact?.[0]) === rowCount) unique.push(name)
  }
  return unique
}
