import { rm, stat } from 'node:fs/promises'
import { Failure } from '../../../failure.ts'
import { moveWhole, parquetOptions } from '../convert/convert.ts'
import { planFor, rowsOf } from '../inspect/plan.ts'
import {
  closeInstance,
  openInstance,
  prepare,
  withConnection,
  type Cancellable,
  type Instance,
} from '../instance/instances.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'
import type { ExecutorSettings, WriteTableCall, WrittenTable } from '../socket/protocol.ts'
import { asFileType } from './file-types.ts'

/** How often the size of the file is looked at while it grows. */
const lookEveryMs = 100

/**
 * The rows of a statement as a Parquet file like those of loads. The statement was planned in the locked instance, as a
 * read is; what writes is an instance of its own over the same tables, which may reach this one file besides.
 */
export async function writeTable(
  instance: Instance,
  call: Cancellable,
  { input, settings }: { input: WriteTableCall; settings: ExecutorSettings },
): Promise<WrittenTable> {
  const { path, maxRows, maxBytes } = input
  const plan = await planFor(instance, call, { sql: input.sql, slots: [] })
  refuseUnnamed(plan.columns.map(({ name }) => name))
  const temporary = `${path}.partial`
  const writer = await openInstance(instance.catalog, settings, temporary)
  const watch = watchSize(temporary, maxBytes, () => call.interrupt?.())
  try {
    return await withConnection(writer, call, async (lease) => {
      const columns = plan.columns.map(({ name }, index) => {
        const type = plan.types[index]
        return `${type === undefined ? `c${index}` : asFileType(type, `c${index}`)} AS ${quoteName(name)}`
      })
      const rows = `SELECT ${columns.join(', ')} FROM ${rowsOf(plan)}`
      const statement = await prepare(lease, `COPY (${rows}) TO ${quoteText(temporary)} (${parquetOptions})`)
      const result = await statement.run()
      const rowCount = Number(result.getChunk(0).getColumnVector(0).getItem(0))
      if (rowCount > maxRows) throw tooLarge(`${maxRows} rows`)
      const described = await lease.connection.runAndReadAll(
        `DESCRIBE SELECT * FROM read_parquet(${quoteText(temporary)})`,
      )
      const { size: sizeBytes } = await stat(temporary)
      if (sizeBytes > maxBytes) throw tooLarge(`${maxBytes} bytes`)
      await moveWhole(temporary, path)
      const written = described.getRowObjects().map((row) => ({
        name: String(row['column_name']),
        type: String(row['column_type']).replaceAll('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ'),
      }))
      return { rowCount, sizeBytes, columns: written }
    })
  } catch (error) {
    throw watch.isOver() ? tooLarge(`${maxBytes} bytes`) : error
  } finally {
    watch.stop()
    closeInstance(writer)
    await rm(temporary, { force: true })
  }
}

/** The engine writes as long as there is disk: what looks at the file from time to time ends it. */
function watchSize(path: string, maxBytes: number, end: () => void) {
  let isOver = false
  const look = async (): Promise<void> => {
    // It is not there yet, or not any more.
    const size = (await stat(path).catch(() => undefined))?.size ?? 0
    if (size <= maxBytes) return
    isOver = true
    end()
  }
  const timer = setInterval(() => {
    void look()
  }, lookEveryMs)
  return { isOver: () => isOver, stop: () => clearInterval(timer) }
}

/** SQL does not tell names apart by case, and a table is read by the names of its columns. */
function refuseUnnamed(names: string[]): void {
  const taken = new Set<string>()
  for (const name of names) {
    if (name === '' || taken.has(name.toLowerCase())) {
      throw new Failure('invalid_request', {
        reason: 'invalid_sql',
        message: `The column ${name} is there twice, or has no name. Give each column of a table a name of its own, with AS.`,
      })
    }
    taken.add(name.toLowerCase())
  }
}

function tooLarge(what: string): Failure {
  return new Failure('result_too_large', {
    message: `The table would have more than ${what}, which is all that a model may have.`,
  })
}
