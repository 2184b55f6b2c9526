import type { FastifyRequest } from 'fastify'
import { rowFormats } from '../../../api/queries.ts'
import type { ReadFormat } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'

/** The forms an answer can take, by what `Accept` asks for. */
const formats = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
  'text/event-stream': 'sse',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.apache.arrow.stream': 'arrow',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
} as const

export type AnswerFormat = (typeof formats)[keyof typeof formats]

export const contentTypes: Record<AnswerFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/** The format of a call: `?format=` where it is given, else `Accept`. */
export function formatAsked({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): AnswerFormat {
  const named = (query as Record<string, unknown>)['format']
  if (named === undefined) return formatOf(headers.accept)
  const format = rowFormats.find((name) => name === named)
  if (format !== undefined) return format
  throw new Failure('invalid_query', {
    reason: 'invalid_field',
    message: `format is one of ${rowFormats.join(', ')}.`,
    details: [{ field: 'format', message: `must be one of ${rowFormats.join(', ')}` }],
  })
}

/** How the engine is to hand out the rows of a format; undefined for the whole result at once. */
export function streamFormatOf(format: AnswerFormat): ReadFormat | undefined {
  if (format === 'json') return undefined
  return format === 'sse' ? 'json' : format
}

/** The best of what is accepted; JSON for a caller who accepts anything, or nothing that is here. */
function formatOf(accept: string | undefined): AnswerFormat {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'json'
  let best: AnswerFormat = 'json'
  let bestQuality = 0
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const format = Object.hasOwn(formats, type) ? formats[type as keyof typeof formats] : undefined
    const given = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = given === undefined ? 1 : Number(given.slice(2))
    if (format === undefined || !(quality > bestQuality)) continue
    best = format
    bestQuality = quality
  }
  return best
}
