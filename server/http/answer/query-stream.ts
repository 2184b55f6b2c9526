import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { envelopeOf, Failure } from '../../failure.ts'
import { within } from '../../flow/index.ts'
import type { StreamAnswer, UnknownValues } from '../../queries/index.ts'
import { contentTypes, type AnswerFormat } from './formats.ts'
import { sourceMeta } from './query-answer.ts'
import { takenInTime } from './reader-pace.ts'

/** `meta`: what the first event says beyond its own fields. */
type Sending = {
  answer: StreamAnswer
  format: AnswerFormat
  meta?: Record<string, unknown>
  /** The slowest pace of a reader: a slower one holds an executor for nobody's good. */
  leastBytesPerSecond: number
}

const pingMs = 15_000

/**
 * Sends a result as it is made. A failure after the first byte cannot change the status: server-sent events end with
 * an `error` event; every other form ends with the connection, so that no reader takes a part for the whole.
 */
export function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, format, meta = {}, leastBytesPerSecond }: Sending,
): FastifyReply {
  sayFacts(reply, answer)
  // A reader that learns the size may come again for parts: see `query-file.ts`.
  if (answer.sizeBytes !== undefined)
    void reply.headers({ 'content-length': answer.sizeBytes, 'accept-ranges': 'bytes' })
  const tellUnknown = ({ warnings }: UnknownValues): void => {
    reply.raw.setHeader('x-sluice-warnings', warnings.map(asHeader).join(','))
  }
  const body =
    format === 'sse'
      ? events(answer, { meta, requestId: request.id })
      : wholeOrBroken(answer, { format, requestId: request.id, tellUnknown })
  nameFile(reply, format, answer.name)
  if (format === 'sse') void reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  const taken = takenInTime(body, { leastBytesPerSecond, giveUp: () => reply.raw.destroy() })
  return reply.type(contentTypes[format]).send(Readable.from(taken, { objectMode: false, highWaterMark: 65_536 }))
}

type Facts = Pick<StreamAnswer, 'version' | 'cache' | 'asOf' | 'source'>

/** The headers of rows that have no envelope around them. */
export function sayFacts(reply: FastifyReply, { version, cache, asOf, source }: Facts): void {
  void reply.header('x-sluice-version', version)
  if (cache !== null) void reply.header('x-cache', cache)
  if (asOf !== null) void reply.header('x-sluice-as-of', asOf.toISOString())
  if (source !== null) void reply.header('x-sluice-truncated-source', 'true')
}

/** A workbook is saved, not shown. SQL that nobody has named gives `rows`. */
export function nameFile(reply: FastifyReply, format: AnswerFormat, name: string): void {
  if (format !== 'xlsx') return
  void reply.header('content-disposition', `attachment; filename="${name === '' ? 'rows' : name}.xlsx"`)
}

function asHeader({ slot, value }: UnknownValues['warnings'][number]): string {
  return `${encodeURIComponent(slot)}=${encodeURIComponent(value)}`
}

type Telling = { format: AnswerFormat; requestId: string; tellUnknown: (unknown: UnknownValues) => void }

/** A form without a place for warnings has them in a header, so nothing of it leaves before its first row. */
async function* wholeOrBroken(
  answer: StreamAnswer,
  { format, requestId, tellUnknown }: Telling,
): AsyncGenerator<Buffer> {
  let begun = false
  const waiting: Buffer[] = []
  let rows = answer.findUnknown === undefined ? Infinity : 0
  try {
    for await (const { bytes, rowCount } of answer.chunks) {
      rows += rowCount
      waiting.push(bytes)
      if (rows === 0) continue
      begun = true
      yield* waiting.splice(0)
    }
    // None of these forms has a place to say that rows are missing.
    if (answer.end().truncated) throw new Failure('result_too_large', { message: 'The result has too many rows.' })
    const unknown = rows === 0 ? await answer.findUnknown?.() : null
    if (unknown) tellUnknown(unknown)
    yield* waiting
  } catch (error) {
    // Before the first byte the failure still has its own status.
    if (begun && format === 'ndjson') yield Buffer.from(`${JSON.stringify(envelopeOf(asFailure(error), requestId))}\n`)
    throw error
  }
}

async function* events(
  answer: StreamAnswer,
  { meta, requestId }: { meta: Record<string, unknown>; requestId: string },
): AsyncGenerator<Buffer> {
  const { name, version, parameters, columns, asOf } = answer
  yield event('meta', {
    query_used: name,
    version,
    parameters,
    columns,
    as_of: asOf,
    ...sourceMeta(answer.source).meta,
    ...meta,
  })
  try {
    for await (const chunk of withPings(answer.chunks)) {
      yield chunk === null ? ping : Buffer.concat([rowsHead, chunk.bytes, rowsTail])
    }
    const { rowCount, truncated, elapsedMs } = answer.end()
    const unknown = rowCount === 0 ? await answer.findUnknown?.() : null
    yield event('done', { row_count: rowCount, truncated, execution_time_ms: elapsedMs, ...unknown })
  } catch (error) {
    yield event('error', envelopeOf(asFailure(error), requestId))
  }
}

const ping = Buffer.from(': ping\n\n')
const rowsHead = Buffer.from('event: rows\ndata: {"type":"rows","rows":[')
const rowsTail = Buffer.from(']}\n\n')

function event(type: string, fields: Record<string, unknown>): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
}

/** A null whenever nothing has come for a while: proxies cut connections that are silent. */
async function* withPings<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk | null> {
  const source = chunks[Symbol.asyncIterator]()
  try {
    let next = source.next()
    for (;;) {
      const got = await within(pingMs, next, () => null)
      if (got === null) {
        yield null
        continue
      }
      if (got.done === true) return
      yield got.value
      next = source.next()
    }
  } finally {
    await source.return?.()
  }
}

function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('internal_error', { cause: error })
}
