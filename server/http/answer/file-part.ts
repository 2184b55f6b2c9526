import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FilePart } from '../../files/index.ts'

/**
 * Writes what a file answers to `Range`, `If-Range`, `If-None-Match` and HEAD: the part to send, or null where there are
 * no bytes to send.
 */
export function answerPart(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { sizeBytes, etag }: { sizeBytes: number; etag: string },
): FilePart | null {
  void reply.headers({ 'accept-ranges': 'bytes', etag })
  if (headers['if-none-match'] === etag) {
    void reply.code(304)
    return null
  }
  // A part of another file than the reader has begun with would make no file at all.
  const ifRange = headers['if-range']
  const asked = ifRange === undefined || ifRange === etag ? rangeOf(headers.range, sizeBytes) : undefined
  if (asked === null) {
    void reply.code(416).headers({ 'content-range': `bytes */${sizeBytes}`, 'content-length': 0 })
    return null
  }
  const part = asked ?? { from: 0, to: sizeBytes - 1 }
  if (asked !== undefined) void reply.code(206).header('content-range', `bytes ${part.from}-${part.to}/${sizeBytes}`)
  void reply.header('content-length', part.to - part.from + 1)
  return method === 'HEAD' || sizeBytes === 0 ? null : part
}

/** The one part that is asked for; undefined for all of it, null for one that the file does not have. */
function rangeOf(range: string | undefined, sizeBytes: number): FilePart | undefined | null {
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
