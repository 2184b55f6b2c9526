import { fixedLimits } from '../../../api/limits.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileAnswer } from '../../queries/index.ts'
import { answerPart } from './file-part.ts'
import { contentTypes, type AnswerFormat } from './formats.ts'
import { nameFile, sayFacts } from './query-stream.ts'
import { takenInTime } from './reader-pace.ts'
import { Readable } from 'node:stream'

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
  void reply.type(contentTypes[format])
  const part = answerPart(request, reply, { sizeBytes, etag })
  if (part === null) {
    await handle.close()
    return reply.send(Readable.from([]))
  }
  const bytes = handle.createReadStream({ start: part.from, end: part.to, autoClose: true })
  const taken = takenInTime(bytes as AsyncIterable<Buffer>, {
    leastBytesPerSecond: fixedLimits.readerBytesPerSecond.value,
    giveUp: () => reply.raw.destroy(),
  })
  return reply.send(Readable.from(taken, { objectMode: false, highWaterMark: 65_536 }))
}
