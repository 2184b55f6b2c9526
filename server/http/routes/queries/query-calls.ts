import { fixedLimits } from '../../../../api/limits.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { answer, rowFormats } from '../../../../api/queries.ts'
import type { App } from '../../../app.ts'
import { Failure } from '../../../failure.ts'
import { addressWords, call, slotPrefix, type Answer, type CallAnswer, type RunAnswer } from '../../../queries/index.ts'
import { runRefusals } from '../../answer/answers.ts'
import { allowOrigin } from '../../request/cross-origin.ts'
import { tellEarlyRefusals } from '../../answer/early-refusals.ts'
import { formatAsked, streamFormatOf, type AnswerFormat } from '../../answer/formats.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { aroundRows, columnsWished, sendBytes, sourceMeta, type Pieces } from '../../answer/query-answer.ts'
import { addressOf, keyCallerOf } from '../../request/query-call.ts'
import { sendFile, wantsFile } from '../../answer/query-file.ts'
import { sendStream } from '../../answer/query-stream.ts'
import { setRateHeaders } from '../../answer/rate-headers.ts'

const slotValues = z.record(z.string(), z.unknown()).nullish().meta({ description: 'Values of slots by name.' })

/** The direct endpoint of every deployed query. */
export function serveQueryCalls(http: Http, app: App): void {
  http.post(
    '/v1/queries/:query_name',
    {
      config: { door: 'query', browser: true, body: 'called' },
      onError: tellEarlyRefusals(app, 'direct'),
      validatorCompiler: lightValidator,
      schema: {
        tags: ['calls'],
        summary: 'Call a deployed query',
        description:
          'JSON in one piece, or by Accept or ?format= as server-sent events, NDJSON, CSV, Excel, Parquet or Arrow. X-Sluice-Version pins a version.',
        security: [{ api_key: [] }],
        params: z.object({ query_name: z.string() }),
        body: slotValues,
        response: { 200: answer, ...runRefusals },
      },
    },
    async (request, reply) => {
      const format = formatAsked(request)
      const answered = call(app, keyCallerOf(request), {
        name: request.params.query_name,
        ...addressOf(request),
        version: pinnedVersion(request),
        parameters: request.body ?? {},
        streamAs: streamFormatOf(format),
        fresh: wantsFresh(request),
        signal: () => untilGone(reply),
      })
      if (answered instanceof Promise) return sendCall(app, { request, reply, format }, await answered)
      void sendCall(app, { request, reply, format }, answered)
      // It has left already: returned, the reply would be waited for.
      return undefined
    },
  )
}

/** The same by GET, for what reads addresses: spreadsheets, `pd.read_csv`, DuckDB, dashboards. */
export function serveReadCalls(http: Http, app: App): void {
  http.get(
    '/v1/queries/:query_name',
    {
      config: { door: 'query', browser: true },
      onError: tellEarlyRefusals(app, 'direct'),
      schema: {
        tags: ['calls'],
        summary: 'Call a deployed query by its address',
        description:
          'Slots are parameters of the URL; a list repeats its name. A slot that is called like one of the parameters below is sent as slot.<name>. The key comes in the header Authorization. HEAD and Range are answered for every format but JSON.',
        security: [{ api_key: [] }],
        params: z.object({ query_name: z.string() }),
        querystring: z
          .object({
            project_id: z.string().optional(),
            environment: z.string().optional(),
            format: z.enum(rowFormats).optional(),
          })
          .loose(),
        response: { 200: answer, ...runRefusals },
      },
    },
    async (request, reply) => {
      const format = formatAsked(request)
      const answered = await call(app, keyCallerOf(request), {
        name: request.params.query_name,
        ...addressOf(request),
        version: pinnedVersion(request),
        parameters: slotTexts(request.query),
        streamAs: streamFormatOf(format),
        keepFile: wantsFile(request, format),
        fresh: wantsFresh(request),
        signal: () => untilGone(reply),
      })
      // A cache asks again before using the answer: the data may have changed.
      void reply.headers({ 'cache-control': 'private, no-cache', vary: 'origin, accept, authorization' })
      return sendCall(app, { request, reply, format }, answered)
    },
  )
}

function slotTexts(query: Record<string, unknown>): Map<string, string[]> {
  const texts = new Map<string, string[]>()
  for (const [name, given] of Object.entries(query)) {
    if (addressWords.has(name)) continue
    const slot = name.startsWith(slotPrefix) ? name.slice(slotPrefix.length) : name
    texts.set(slot, [...(texts.get(slot) ?? []), ...[given].flat().map(String)])
  }
  return texts
}

/**
 * Slots are checked against the version that is called, so all the schema can say of a body is that it is an object.
 * An unchanged call is seen at a glance; the schema's own check makes a copy, and names the mistake where there is one.
 */
function lightValidator({ httpPart }: { httpPart?: string }): (value: unknown) => ValidationResult {
  if (httpPart !== 'body') return (value) => ({ value })
  const check = validatorCompiler({ schema: slotValues, method: 'POST', url: '', httpPart })
  return (value) => (isRecord(value) || value === undefined || value === null ? { value } : check(value))
}
type ValidationResult = ReturnType<ReturnType<typeof validatorCompiler>>

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Reply = { request: FastifyRequest; reply: FastifyReply; format: AnswerFormat }

export function sendCall(
  app: App,
  { request, reply, format }: Reply,
  answered: CallAnswer,
): FastifyReply | Promise<FastifyReply> {
  allowOrigin(app, request, reply, answered.projectId)
  setRateHeaders(reply, keyCallerOf(request).standings)
  const leastBytesPerSecond = fixedLimits.readerBytesPerSecond.value
  if ('file' in answered) return sendFile(request, reply, { answer: answered, format })
  if ('chunks' in answered) return sendStream(request, reply, { answer: answered, format, leastBytesPerSecond })
  return sendWhole(app, { request, reply, format }, answered)
}

function sendWhole(
  app: App,
  { request, reply }: Reply,
  { projectId, answer, cache, unknown }: RunAnswer,
): FastifyReply {
  const { etag, version } = answer
  void reply.header('x-sluice-version', version)
  if (cache !== null) void reply.header('x-cache', cache)
  if (etag !== null) {
    void reply.header('etag', etag)
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  }
  const wished = request.headers['prefer'] === undefined ? undefined : columnsWished(request, answer)
  return sendBytes(app, reply, { projectId, body: bodyOf(answer, unknown, wished) })
}

/** Shorter than this, head and body leave in one write if the body is text. */
const shortBytes = 16_384

/** Composed once for each answer, however often it is given. */
function bodyOf(
  answer: Answer,
  unknown: RunAnswer['unknown'],
  wished?: { columns?: Answer['columns'] },
): Buffer | string | Pieces {
  const known = bodies.get(answer)
  const isUsual = unknown === undefined && wished?.columns === undefined
  if (known !== undefined && isUsual) return known
  const { rows, rowCount, truncated, elapsedMs, version, asOf, source } = answer
  const rest = {
    execution_time_ms: elapsedMs,
    row_count: rowCount,
    truncated,
    version,
    as_of: asOf,
    ...sourceMeta(source),
    ...unknown,
    ...wished,
  }
  const body = rows.length < shortBytes ? shortBody(rows, rest) : aroundRows(rows, rest)
  if (answer.etag !== null && isUsual) bodies.set(answer, body)
  return body
}
function shortBody(rows: Buffer, rest: Record<string, unknown>): string {
  return `{"data":${rows.toString()},${JSON.stringify(rest).slice(1)}`
}
const bodies = new WeakMap<Answer, Buffer | string | Pieces>()

/** By the weak comparison: only what is between the quotes counts. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const opaque = etag.replace(/^W\//, '')
  return header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === opaque)
}

function wantsFresh({ headers }: FastifyRequest): boolean {
  const wishes = headers['cache-control']
  return wishes !== undefined && /\bno-(cache|store)\b/i.test(wishes)
}

function pinnedVersion(request: FastifyRequest): number | undefined {
  const header = request.headers['x-sluice-version']
  if (header === undefined) return undefined
  const version = typeof header === 'string' && /^[1-9]\d{0,8}$/.test(header) ? Number(header) : undefined
  if (version !== undefined) return version
  throw new Failure('invalid_query', {
    reason: 'invalid_field',
    message: 'X-Sluice-Version is the number of a version.',
    details: [{ field: 'X-Sluice-Version', message: 'must be a whole number from 1' }],
  })
}
