import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asFileType } from './file-types.ts'
import {
  closeInstance,
  openInstance,
  prepare,
  withConnection,
  type Cancellable,
  type Exporter,
  type Instance,
} from '../instance/instances.ts'
import { rowsOf } from '../inspect/plan.ts'
import type { Column, ExecutorSettings, ReadCall, ReadEnd } from '../socket/protocol.ts'
import { tooLarge } from './read.ts'
import { bindStatement } from '../instance/slots.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'
import { openRead, type StreamSink } from './stream.ts'

const fileChunkBytes = 1_048_576

/**
 * A result as a Parquet file. Writing needs a path, which a locked instance does not have: an instance of its own, over
 * the same tables, may reach this one file.
 */
export async function exportParquet(
  { instance, settings, id }: { instance: Instance; settings: ExecutorSettings; id: number },
  call: Cancellable,
  { input, sink }: { input: ReadCall; sink: StreamSink },
): Promise<ReadEnd> {
  const startedMs = performance.now()
  const { slots, plan } = await openRead(instance, call, input)
  return withExporter(instance, { settings, id }, async ({ writer, path }) => {
    const names = fileNames(plan.columns).map((name, index) => {
      const type = plan.types[index]
      return `${type === undefined ? `c${index}` : asFileType(type, `c${index}`)} AS ${quoteName(name)}`
    })
    const rows = `SELECT ${names.join(', ')} FROM ${rowsOf(plan)} LIMIT ${input.maxRows + 1}`
    const count = await withConnection(writer, call, async (lease) => {
      const statement = await prepare(lease, `COPY (${rows}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`)
      bindStatement(statement, slots)
      const result = await statement.run()
      return Number(result.getChunk(0).getColumnVector(0).getItem(0))
    })
    // A Parquet file cannot be cut after it is written, and a cut must be said: beyond the limit it is refused.
    if (count > input.maxRows) throw tooLarge(input.maxBytes)
    await sendFile({ path, columns: plan.columns }, input.maxBytes, sink)
    return { rowCount: count, truncated: false, elapsedMs: performance.now() - startedMs }
  })
}

/** The file is removed while it is read, and closed after the answer: neither delays it. */
async function sendFile(
  { path, columns }: { path: string; columns: Column[] },
  maxBytes: number,
  sink: StreamSink,
): Promise<void> {
  const file = await open(path, 'r')
  // A file that cannot be removed now is overwritten by the next export, and goes with the executor's folder.
  const removed = rm(path).catch(() => undefined)
  try {
    const { size } = await file.stat()
    if (size > maxBytes) throw tooLarge(maxBytes)
    sink.opened({ columns, sizeBytes: size })
    for (let at = 0; at < size;) {
      const bytes = Buffer.allocUnsafe(Math.min(fileChunkBytes, size - at))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, at)
      if (bytesRead === 0) throw new Error(`${at} of ${size} bytes of an export were there`)
      at += bytesRead
      await sink.chunk(bytes.subarray(0, bytesRead), 0)
    }
  } finally {
    void file.close().catch(() => undefined)
    await removed
  }
}

/** One is kept for the next export, since opening it takes half as long as writing a small file; more are not. */
async function withExporter<Result>(
  instance: Instance,
  { settings, id }: { settings: ExecutorSettings; id: number },
  use: (exporter: Exporter) => Promise<Result>,
): Promise<Result> {
  // From here on, so that nobody closes the instance that the exporter goes back to.
  instance.activeCalls += 1
  try {
    const cached = instance.exporter
    instance.exporter = null
    const exporter = cached ?? (await openExporter(instance, join(settings.tempDir, `export-${id}.parquet`), settings))
    try {
      return await use(exporter)
    } catch (error) {
      await rm(exporter.path, { force: true })
      throw error
    } finally {
      if (instance.exporter === null && !exporter.writer.broken) instance.exporter = exporter
      else closeInstance(exporter.writer)
    }
  } finally {
    instance.activeCalls -= 1
  }
}

async function openExporter({ catalog }: Instance, path: string, settings: ExecutorSettings): Promise<Exporter> {
  return { writer: await openInstance(catalog, settings, path), path }
}

/** Columns of a file are told apart without regard to case, and each has a name. */
function fileNames(columns: Column[]): string[] {
  const taken = new Set<string>()
  return columns.map(({ name }, index) => {
    let unique = name === '' ? `column_${index}` : name
    while (taken.has(unique.toLowerCase())) unique = `${unique}_${index}`
    taken.add(unique.toLowerCase())
    return unique
  })
}
