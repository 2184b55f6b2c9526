import { fixedLimits } from '../../../api/limits.ts'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../app.ts'
import type { Column } from '../../engine/index.ts'
import type { IncompleteSource } from '../../queries/index.ts'
import { takenInTime } from './reader-pace.ts'

/** A body in pieces: what is large is never copied together. */
export type Pieces = { pieces: Buffer[]; sizeBytes: number }

/** Says that a result rests on a load that was cut short. Nothing to say is nothing said. */
export function sourceMeta(source: IncompleteSource | null): { meta?: Record<string, unknown> } {
  if (source === null) return {}
  const tables = source.tables.map(({ name, asOf, truncated }) => ({ name, as_of: asOf, truncated }))
  return { meta: { truncated_source: true, tables } }
}

/** The types of the columns, for a client that asks for them to make dates and decimals of what JSON has as text. */
export function columnsWished({ headers }: FastifyRequest, { columns }: { columns: Column[] }): { columns?: Column[] } {
  return /(^|[ ,])columns($|[ ,;])/.test(String(headers['prefer'] ?? '')) ? { columns } : {}
}

/** From here on a body leaves piece by piece, each when the one before is gone. */
const largeBytes = 1_048_576
const sliceBytes = 262_144

/** A JSON object whose `data` is the rows as the engine made them: their bytes are never parsed here. */
export function aroundRows(rows: Buffer, rest: Record<string, unknown>): Buffer | Pieces {
  const pieces = [dataKey, rows, Buffer.from(`,${JSON.stringify(rest).slice(1)}`)]
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
  return sizeBytes < largeBytes ? Buffer.concat(pieces, sizeBytes) : { pieces, sizeBytes }
}
const dataKey = Buffer.from('{"data":')

/**
 * A large answer counts as its project's, and its key's, until it was read: the connection of a reader who takes too
 * long ends, and so does what it holds.
 */
export function sendBytes(
  app: Pick<App, 'answers' | 'config'>,
  reply: FastifyReply,
  { projectId, body }: { projectId: string; body: Buffer | string | Pieces },
): FastifyReply {
  void reply.header('content-type', 'application/json; charset=utf-8')
  if (typeof body === 'string' || Buffer.isBuffer(body)) return reply.send(body)
  const { pieces, sizeBytes } = body
  reply.raw.once('close', app.answers.room.hold([projectId, reply.request.keyCaller?.key.id], sizeBytes))
  const slices = takenInTime(sliced(pieces), {
    leastBytesPerSecond: fixedLimits.readerBytesPerSecond.value,
    giveUp: () => reply.raw.destroy(),
  })
  return reply
    .header('content-length', sizeBytes)
    .send(Readable.from(slices, { objectMode: false, highWaterMark: sliceBytes }))
}

async function* sliced(pieces: Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes)
  }
}
