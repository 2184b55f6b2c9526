import { fixedLimits } from '../../../api/limits.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileAnswer } from '../../queries/index.ts'
import { contentTypes, type AnswerFormat } from './formats.ts'
import { nameFile, sayFacts } from './query-stream.ts'
import { takenInTime } from './reader-pace.ts'
import { Readable } from 'node:stream'

type Part = { from: number; to: number }

/** True for a reader that wants to know the size of a file, or a part of it. JSON is answered in one piece. */
export function wantsFile({ method, headers }: FastifyRequest, format: AnswerFormat): boolean {
  if (format === 'json' || format === 'sse') return false
  return method === 'HEAD' || headers.range !== undefined || headers['if-none-match'] !== undefined
}

/** Sends a result that lies in a file, or the part of it that `Range` asks for. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, format }: { answer: FileAnswer; format: AnswerFormat },
): Promise<FastifyReply> {
  const { handle, sizeBytes, etag } = answer.file
  sayFacts(reply, answer)
  nameFile(reply, format, answer.name)
  void reply.type(contentTypes[format]).headers({ 'accept-ranges': 'bytes', etag })
  const { headers, method } = request
  if (headers['if-none-match'] === etag) {
    await handle.close()
    return reply.code(304).send()
  }
  // A part of another file than the reader has begun with would make no file at all.
  const ifRange = headers['if-range']
  const asked = ifRange === undefined || ifRange === etag ? rangeOf(headers.range, sizeBytes) : undefined
  if (asked === null) {
    await handle.close()
    return reply.code(416).header('content-range', `bytes */${sizeBytes}`).header('content-length', 0).send()
  }
  const { from, to } = asked ?? { from: 0, to: sizeBytes - 1 }
  if (asked !== undefined) void reply.code(206).header('content-range', `bytes ${from}-${to}/${sizeBytes}`)
  void reply.header('content-length', to - from + 1)
  if (method === 'HEAD' || sizeBytes === 0) {
    await handle.close()
    // The length of anything but a stream would be counted anew.
    return reply.send(Readable.from([]))
  }
  const bytes = handle.createReadStream({ start: from, end: to, autoClose: true })
  const taken = takenInTime(bytes as AsyncIterable<Buffer>, {
    leastBytesPerSecond: fixedLimits.readerBytesPerSecond.value,
    giveUp: () => reply.raw.destroy(),
  })
  return reply.send(Readable.from(taken, { objectMode: false, highWaterMark: 65_536 }))
}

/** The one part that is asked for; undefined for all of it, null for one that the file does not have. */
export function rangeOf(range: string | undefined, sizeBytes: number): Part | undefined | null {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') {
    const from = Math.max(0, sizeBytes - Number(last))
    return Number(last) === 0 || sizeBytes === 0 ? null : { from, to: sizeBytes - 1 }
  }
  const from = Number(first)
  const to = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < from) return undefined
  return from >= sizeBytes ? null : { from, to }
}
