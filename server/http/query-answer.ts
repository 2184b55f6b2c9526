import type { FastifyReply } from 'fastify'

/** A JSON object whose `data` is the rows as the engine made them: their bytes are never parsed here. */
export function aroundRows(rows: Buffer, rest: Record<string, unknown>): Buffer {
  return Buffer.concat([dataKey, rows, Buffer.from(`,${JSON.stringify(rest).slice(1)}`)])
}
const dataKey = Buffer.from('{"data":')

export function sendBytes(reply: FastifyReply, bytes: Buffer | string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(bytes)
}
