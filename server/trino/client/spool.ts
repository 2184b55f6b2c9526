import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Column, Engine, Files, QueryInput, ReadStream } from '../../data/index.ts'

/** Results in formats that need a column as a whole: their rows pass through a file and DuckDB writes them. */
export type Spool = {
  stream(
    scope: string,
    input: QueryInput & { format: 'parquet' | 'arrow' },
    lines: (input: QueryInput) => Promise<ReadStream>,
  ): Promise<ReadStream>
}

type Parts = { executors: Pick<Engine, 'convert' | 'stream'>; files: Pick<Files, 'temporaryPath'> }

export function createSpool({ executors, files }: Parts): Spool {
  return {
    async stream(scope, input, lines) {
      const [rowsPath, parquetPath] = [files.temporaryPath('ndjson'), files.temporaryPath('parquet')]
      const remove = (): Promise<unknown> =>
        Promise.all([rowsPath, parquetPath].map((path) => rm(path, { force: true })))
      try {
        const read = await lines({ ...input, format: 'ndjson' })
        await pipeline(async function* () {
          for await (const { bytes } of read.chunks) yield bytes
        }, createWriteStream(rowsPath))
        const truncated = read.end()?.truncated ?? true
        const limits = {
          ...(input.timeoutMs && { timeoutMs: input.timeoutMs }),
          ...(input.signal && { signal: input.signal }),
        }
        const contract = { columns: read.columns.map(declared), onMismatch: 'widen' as const }
        const source = { kind: 'ndjson' as const, path: rowsPath }
        const { columns } = await executors.convert(scope, { source, parquetPath, contract }, limits)
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
