import type { FastifyReply, FastifyRequest } from 'fastify'
import { validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { answer } from '../../../api/queries.ts'
import type { App } from '../../app.ts'
import { Failure } from '../../failure.ts'
import {
  directRun,
  keptAnswer,
  runQuery,
  streamQuery,
  type Answer,
  type Run,
  type RunAnswer,
} from '../../queries/index.ts'
import { refusals } from '../answers.ts'
import { openEarlyRefusals } from '../early-refusals.ts'
import { formatOf, type AnswerFormat } from '../formats.ts'
import { untilGone } from '../gone.ts'
import type { Http } from '../http.ts'
import { aroundRows, sendBytes } from '../query-answer.ts'
import { addressOf, keyCallerOf, limitQuery } from '../query-call.ts'
import { sendStream } from '../query-stream.ts'

const slotValues = z.record(z.string(), z.unknown()).nullish().meta({ description: 'Values of slots by name.' })

/** The direct endpoint of every deployed query. */
export function serveQueryCalls(http: Http, app: App): void {
  const early = openEarlyRefusals(app, 'direct')

  http.post(
    '/v1/queries/:query_name',
    {
      config: { door: 'query' },
      onError: early.onError,
      validatorCompiler: lightValidator,
      schema: {
        tags: ['calls'],
        summary: 'Call a deployed query',
        description:
          'JSON in one piece, or by Accept as server-sent events, NDJSON, CSV, Parquet or Arrow. X-Sluice-Version pins a version.',
        params: z.object({ query_name: z.string() }),
        body: slotValues,
        response: { 200: answer, ...refusals },
      },
    },
    async (request, reply) => {
      const { projectId, environment } = addressOf(request)
      const call = {
        name: request.params.query_name,
        projectId,
        environment,
        version: pinnedVersion(request),
        parameters: request.body ?? {},
        fresh: wantsFresh(request),
        signal: () => untilGone(reply),
      }
      early.begin(request)
      const run = directRun(app, keyCallerOf(request), call)
      if (run instanceof Promise || run.version.rateLimit !== null) return answerLater(app, run, { request, reply })
      return answerRun(app, run, { request, reply })
    },
  )
}

/**
 * Slots are checked against the version that is called, so all the schema can say of a body is that it is an object.
 * That is seen at a glance; the schema's own check makes a copy, and says what is wrong when something is.
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

type Call = { request: FastifyRequest; reply: FastifyReply }

async function answerLater(app: App, found: Run | Promise<Run>, call: Call): Promise<FastifyReply> {
  const run = await found
  if (run.version.rateLimit !== null) await limitQuery(app, run, call)
  return (await answerRun(app, run, call)) ?? call.reply
}

/** Undefined where the answer has left already. */
function answerRun(app: App, run: Run, call: Call): Promise<FastifyReply> | undefined {
  const { request, reply } = call
  const format = formatOf(request.headers.accept)
  void reply.header('x-sluice-version', run.version.number)
  if (format !== 'json') return answerInParts(app, run, call, format)
  const kept = keptAnswer(app, run)
  if (kept === undefined) return runQuery(app, run).then((answered) => sendAnswer(request, reply, answered))
  sendAnswer(request, reply, kept)
  return undefined
}

async function answerInParts(
  app: App,
  run: Run,
  { request, reply }: Call,
  format: Exclude<AnswerFormat, 'json'>,
): Promise<FastifyReply> {
  const streamed = await streamQuery(app, run, format === 'sse' ? 'json' : format)
  if (streamed.cache !== null) void reply.header('x-cache', streamed.cache)
  if (streamed.asOf !== null) void reply.header('x-sluice-as-of', streamed.asOf.toISOString())
  return sendStream(request, reply, { answer: streamed, format, name: run.name })
}

function sendAnswer(request: FastifyRequest, reply: FastifyReply, { answer, cache }: RunAnswer): FastifyReply {
  const { etag } = answer
  if (cache !== null) void reply.header('x-cache', cache)
  if (etag !== null) {
    void reply.header('etag', etag)
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  }
  return sendBytes(reply, bodyOf(answer))
}

/** Shorter than this, head and body leave in one write if the body is text. */
const shortBytes = 16_384

/** Composed once for each answer, however often it is given. */
function bodyOf(answer: Answer): Buffer | string {
  const known = bodies.get(answer)
  if (known !== undefined) return known
  const { rows, rowCount, truncated, elapsedMs, version, asOf } = answer
  const rest = { execution_time_ms: elapsedMs, row_count: rowCount, truncated, version, as_of: asOf }
  const bytes = aroundRows(rows, rest)
  const body = bytes.length < shortBytes ? bytes.toString() : bytes
  if (answer.etag !== null) bodies.set(answer, body)
  return body
}
const bodies = new WeakMap<Answer, Buffer | string>()

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
