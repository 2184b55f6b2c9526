import { rm, stat } from 'node:fs/promises'
import { moveWhole, parquetOptions } from './convert.ts'
import { withFiles } from '../instance/file-database.ts'
import type { Cancellable } from '../instance/instances.ts'
import { partFiles, partedFiles } from '../instance/parted.ts'
import type { CastCall, ExecutorSettings } from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

/** The rows of a table as one Parquet file with other types: for readers that do not have those they are stored in. */
export async function castTable(
  settings: ExecutorSettings,
  call: Cancellable,
  { table, columns, path }: CastCall,
): Promise<{ sizeBytes: number }> {
  const { parquetPath, parted } = table
  const temporary = `${path}.partial`
  const sources = parted === undefined ? [parquetPath] : partFiles(parted)
  const from = parted === undefined ? `read_parquet(${quoteText(parquetPath)})` : `(${partedFiles(parted)})`
  const list = columns.map(({ name, type }) => `CAST(${quoteName(name)} AS ${type}) AS ${quoteName(name)}`)
  try {
    await withFiles(settings, [...sources, temporary], async (connection) => {
      call.interrupt = () => connection.interrupt()
      await connection.run(
        `COPY (SELECT ${list.join(', ')} FROM ${from}) TO ${quoteText(temporary)} (${parquetOptions})`,
      )
    })
    await moveWhole(temporary, path)
    return { sizeBytes: (await stat(path)).size }
  } finally {
    await rm(temporary, { force: true })
  }
}
