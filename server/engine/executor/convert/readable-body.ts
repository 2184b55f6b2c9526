import { rm, stat, writeFile } from 'node:fs/promises'
import { Failure } from '../../../failure.ts'
import { unpackBody, unpackedPaths } from '../../../rows/index.ts'
import { withFiles } from '../instance/file-database.ts'
import { throwIfCancelled, type Cancellable } from '../instance/instances.ts'
import type { AnswerBody, ExecutorSettings } from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

type Readable = AnswerBody & AsyncDisposable

/** For a body that says nothing else: as much as an execute may bring. */
const ordinaryBytes = 1_073_741_824

/** A body whose rows can be read as JSON, NDJSON or CSV: unpacked, and Parquet, Excel and XML as rows one a line. */
export async function readableBody(
  settings: ExecutorSettings,
  call: Cancellable,
  body: AnswerBody,
  workPath: string,
): Promise<Readable> {
  const { maxDepth, maxBytes = ordinaryBytes } = body
  const rowsPath = `${workPath}.parquet-rows`
  const paths = [...unpackedPaths(workPath), rowsPath]
  const forget = async () => void (await Promise.all(paths.map((path) => rm(path, { force: true }))))
  try {
    const goOn = () => throwIfCancelled(call)
    const found = await unpackBody(body, { workPath, maxBytes, maxDepth, goOn })
    if (found.isParquet) await parquetRows(settings, call, { from: found.path, to: rowsPath, maxBytes })
    const read = found.isParquet
      ? { path: rowsPath, contentType: 'application/x-ndjson', extractor: body.extractor }
      : found
    const { path, extractor } = read
    const isEmpty = path !== body.path && (await stat(path)).size === 0
    // No rows are a list without any; an empty body would be a mistake.
    if (isEmpty) await writeFile(path, '[]')
    const contentType = isEmpty ? 'application/json' : read.contentType
    return { ...body, path, contentType, extractor, [Symbol.asyncDispose]: forget }
  } catch (error) {
    await forget()
    throw error
  }
}

type Parquet = { from: string; to: string; maxBytes: number }

/** A file that lies about itself is refused, or at worst ends this process and nothing else. */
async function parquetRows(
  settings: ExecutorSettings,
  call: Cancellable,
  { from, to, maxBytes }: Parquet,
): Promise<void> {
  await withFiles(settings, [from, to], async (connection) => {
    call.interrupt = () => connection.interrupt()
    throwIfCancelled(call)
    try {
      const file = `read_parquet(${quoteText(from)})`
      const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${file}`)
      const columns = described
        .getRowObjects()
        .map((row) => column(String(row['column_name']), String(row['column_type'])))
      await connection.run(
        `COPY (SELECT ${columns.join(', ')} FROM ${file}) TO ${quoteText(to)} (FORMAT json, ARRAY false)`,
      )
    } catch (error) {
      throwIfCancelled(call)
      throw new Failure('upstream_error', {
        reason: 'not_tabular',
        message: 'The Parquet file cannot be read: it is damaged, or holds something that no table holds.',
        cause: error,
      })
    }
  })
  const { size } = await stat(to)
  if (size <= maxBytes) return
  const message = `The Parquet file holds more than ${maxBytes} bytes of rows, which is all that a load may bring.`
  throw new Failure('upstream_error', { reason: 'too_large', message })
}

/** Values that JSON lacks: numbers that are none are null, bytes are base 64, times are in ISO 8601. */
function column(name: string, type: string): string {
  const quoted = quoteName(name)
  if (type === 'FLOAT' || type === 'DOUBLE') return `CASE WHEN isfinite(${quoted}) THEN ${quoted} END AS ${quoted}`
  if (type === 'BLOB') return `to_base64(${quoted}) AS ${quoted}`
  if (type === 'TIMESTAMP WITH TIME ZONE') return `strftime(${quoted}, '%Y-%m-%dT%H:%M:%S.%fZ') AS ${quoted}`
  return quoted
}
