import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Column, Engine, QueryInput, ReadStream } from '../../engine/index.ts'
import type { Files } from '../../files/index.ts'

type Lines = (input: QueryInput) => Promise<ReadStream>

/** Results in formats that need a column as a whole: their rows pass through a file and DuckDB writes them. */
export type Spool = {
  stream(scope: string, input: QueryInput & { format: 'parquet' | 'arrow' | 'xlsx' }, lines: Lines): Promise<ReadStream>
}

type Parts = { executors: Pick<Engine, 'convert' | 'stream'>; files: Pick<Files, 'temporaryPath'> }

export function createSpool({ executors, files }: Parts): Spool {
  /** The rows of a result as a Parquet file. */
  async function gather(
    scope: string,
    { input, parquetPath, lines }: { input: QueryInput; parquetPath: string; lines: Lines },
  ) {
    const rowsPath = files.temporaryPath('ndjson')
    try {
      const read = await lines({ ...input, format: 'ndjson' })
      await pipeline(async function* () {
        for await (const { bytes } of read.chunks) yield bytes
      }, createWriteStream(rowsPath))
      const limits = {
        ...(input.timeoutMs && { timeoutMs: input.timeoutMs }),
        ...(input.signal && { signal: input.signal }),
      }
      const contract = { columns: read.columns.map(declared), onMismatch: 'widen' as const }
      const source = { kind: 'ndjson' as const, path: rowsPath }
      const converted = await executors.convert(scope, { source, parquetPath, contract }, limits)
      return { ...converted, read, truncated: read.end()?.truncated ?? true }
    } finally {
      await rm(rowsPath, { force: true })
    }
  }

  return {
    async stream(scope, input, lines) {
      const parquetPath = files.temporaryPath('parquet')
      const remove = (): Promise<unknown> => rm(parquetPath, { force: true })
      try {
        const { read, columns, truncated } = await gather(scope, { input, parquetPath, lines })
        const order = read.columns.map(({ name }) => quoted(columns, name))
        const catalog = { version: parquetPath, tables: [{ name: 'result', parquetPath, columns }] }
        const sql = `SELECT ${order.join(', ')} FROM result`
        const written = await executors.stream(`result ${parquetPath}`, catalog, { ...input, sql, slots: [] })
        void written.finished.catch(() => undefined).finally(() => void remove())
        const end = () => {
          const own = written.end()
          return own === null ? null : { ...own, truncated: own.truncated || truncated }
        }
        return { ...written, columns: read.columns, end }
      } catch (error) {
        await remove()
        throw error
      }
    },
  }
}

/** A column keeps the type that Trino gave it, where one can be held to it. */
function declared({ name, type }: Column) {
  return { sourceKey: name, name, type: type === 'TIMESTAMP WITH TIME ZONE' ? 'TIMESTAMPTZ' : type, declared: true }
}

function quoted(columns: Array<{ name: string; sourceKey: string }>, key: string): string {
  const name = columns.find(({ sourceKey }) => sourceKey === key)?.name ?? key
  return `"${name.replaceAll('"', '""')}" AS "${key.replaceAll('"', '""')}"`
}
