import type { ReadFormat } from '../data/index.ts'

/** The forms an answer can take, by what `Accept` asks for. */
const formats = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
  'text/event-stream': 'sse',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.apache.arrow.stream': 'arrow',
} as const

export type AnswerFormat = (typeof formats)[keyof typeof formats]

export const contentTypes: Record<AnswerFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
}

/** How the engine is to hand out the rows of a format; undefined for the whole result at once. */
export function streamFormatOf(format: AnswerFormat): ReadFormat | undefined {
  if (format === 'json') return undefined
  return format === 'sse' ? 'json' : format
}

/** The best of what is accepted; JSON for a caller who accepts anything, or nothing that is here. */
export function formatOf(accept: string | undefined): AnswerFormat {
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
