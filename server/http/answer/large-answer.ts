import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { jsonBody, mapInPieces } from '../../flow/index.ts'

/** An answer that is as large as somebody made what it shows: checked by its schema and written in pieces. */
export async function sendLarge<Schema extends z.ZodObject>(
  reply: FastifyReply,
  schema: Schema,
  value: z.output<Schema>,
): Promise<FastifyReply> {
  const shown: Record<string, unknown> = schema.def.catchall === undefined ? {} : { ...value }
  for (const [field, part] of Object.entries(schema.shape)) {
    const given = (value as Record<string, unknown>)[field]
    if (given === undefined && part instanceof z.ZodOptional) continue
    const isList = part instanceof z.ZodArray && Array.isArray(given)
    shown[field] = isList ? await mapInPieces(given, (item) => z.encode(part.element as z.ZodType, item)) : given
    if (!isList) shown[field] = z.encode(part as z.ZodType, given)
  }
  void reply.type('application/json; charset=utf-8')
  return reply.send(await jsonBody(shown))
}
