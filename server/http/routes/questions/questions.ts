import { fixedLimits } from '../../../../api/limits.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorEnvelope } from '../../../../api/envelope.ts'
import { askQuestion, questionAnswer } from '../../../../api/questions.ts'
import type { App } from '../../../app.ts'
import { Failure } from '../../../failure.ts'
import type { RunAnswer } from '../../../queries/index.ts'
import { ask, completenessOf, roundShare, wireRouting, type Decision } from '../../../questions/index.ts'
import { runRefusals } from '../../answer/answers.ts'
import { watchArrivals } from '../../request/arrivals.ts'
import { allowOrigin } from '../../request/cross-origin.ts'
import { tellEarlyRefusals } from '../../answer/early-refusals.ts'
import { formatAsked, streamFormatOf, type AnswerFormat } from '../../answer/formats.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { aroundRows, columnsWished, sendBytes, sourceMeta } from '../../answer/query-answer.ts'
import { addressOf, keyCallerOf } from '../../request/query-call.ts'
import { sendStream } from '../../answer/query-stream.ts'
import { setRateHeaders } from '../../answer/rate-headers.ts'

const unanswerable = errorEnvelope.describe(
  'Not answerable: `no_match`, `ambiguous` (with candidates), `missing_slots` (with what was found and a JSON Schema of what is missing), `unexpressed` (with the words that the nearest query leaves out) or `unsure` (with the confidence, and the words in doubt).',
)
/** In one piece, or in the form that was asked for. */
const answers = {
  description: 'The answer.',
  content: {
    'application/json': { schema: questionAnswer },
    'text/event-stream': { schema: z.unknown().describe('Events meta, rows and done, or error.') },
    'application/x-ndjson': { schema: z.string() },
    'text/csv': { schema: z.string() },
    'application/vnd.apache.parquet': { schema: z.unknown() },
    'application/vnd.apache.arrow.stream': { schema: z.unknown() },
  },
}

/** The one endpoint for questions in plain language. */
export function serveQuestions(http: Http, app: App): void {
  const othersIn = watchArrivals(http.server)

  http.post(
    '/v1/query',
    {
      config: { door: 'query', browser: true, body: 'called' },
      // How many have come is known before the first is read, so that those who are too many are refused at once.
      onRequest: othersIn,
      onError: tellEarlyRefusals(app, 'question'),
      schema: {
        tags: ['calls'],
        summary: 'Ask in plain language',
        description:
          'The matching deployed query is chosen, its slots are filled, and it runs. JSON in one piece, server-sent events with `stream`, or by Accept or ?format= as NDJSON, CSV, Parquet or Arrow.',
        security: [{ api_key: [] }],
        body: askQuestion,
        response: {
          200: answers,
          422: unanswerable,
          ...runRefusals,
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      const format = questionFormat(request, body.stream)
      const { decision, answer } = await ask(app, keyCallerOf(request), {
        question: body.query,
        projectId: projectOf(request, body),
        environment: addressOf(request).environment,
        queryName: body.query_name,
        parameters: body.parameters,
        timeZone: body.time_zone,
        explain: body.explain,
        completeness: completenessOf(body),
        follows: body.follows,
        streamAs: streamFormatOf(format),
        fresh: /\bno-(cache|store)\b/i.test(request.headers['cache-control'] ?? ''),
        signal: () => untilGone(reply),
      })
      const extra = { ...aboutAnswer(decision, body), ...(answer.chart !== null && { chart: answer.chart }) }
      allowOrigin(app, request, reply, answer.projectId)
      setRateHeaders(reply, keyCallerOf(request).standings)
      // A row a line has no place for the name, so the header says it for every form.
      void reply.headers({ vary: 'origin, accept', 'x-sluice-query': answer.name })
      const left = decision.routing.explanation.unexpressed.map(({ text }) => encodeURIComponent(text))
      if (left.length > 0) void reply.header('x-sluice-unexpressed', left.join(','))
      return 'chunks' in answer
        ? sendStream(request, reply, {
            answer,
            format,
            meta: extra,
            leastBytesPerSecond: fixedLimits.readerBytesPerSecond.value,
          })
        : sendWhole(app, reply, { answered: answer, extra })
    },
  )
}

/** Fields of an answer beside its rows: its confidence, and the words of the question that it leaves aside. */
function aboutAnswer(decision: Decision, { follows, explain }: z.output<typeof askQuestion>): Record<string, unknown> {
  const { unused, unexpressed, confidence } = decision.routing.explanation
  const { changed = null } = decision
  return {
    confidence: roundShare(confidence),
    // An answer that leaves a value of the question aside says so without being asked.
    ...(unused.length > 0 && { unused: unused.map(({ text }) => text) }),
    ...(unexpressed.length > 0 && { unexpressed }),
    ...(follows !== undefined && { follows: { request_id: follows, changed } }),
    ...(explain && { routing: wireRouting(decision) }),
  }
}

function questionFormat(request: FastifyRequest, stream: boolean): AnswerFormat {
  const asked = formatAsked(request)
  return stream && asked === 'json' ? 'sse' : asked
}

/** The body names the project; whatever else names one must say the same. */
function projectOf(request: FastifyRequest, body: z.output<typeof askQuestion>): string {
  const { projectId } = addressOf(request)
  if (projectId === undefined || projectId === body.project_id) return body.project_id
  throw new Failure('invalid_query', {
    reason: 'invalid_field',
    message: 'Two projects are named: project_id and X-Sluice-Project or ?project_id= differ.',
    details: [{ field: 'project_id', message: 'is given twice' }],
  })
}

function sendWhole(
  app: App,
  reply: FastifyReply,
  { answered, extra }: { answered: RunAnswer; extra: Record<string, unknown> },
): FastifyReply {
  const { projectId, name, answer, cache, parameters, unknown } = answered
  void reply.header('x-sluice-version', answer.version)
  if (cache !== null) void reply.header('x-cache', cache)
  const rest = {
    query_used: name,
    parameters,
    execution_time_ms: answer.elapsedMs,
    row_count: answer.rowCount,
    truncated: answer.truncated,
    version: answer.version,
    as_of: answer.asOf,
    ...sourceMeta(answer.source),
    ...unknown,
    ...extra,
    ...columnsWished(reply.request, answer),
  }
  return sendBytes(app, reply, { projectId, body: aroundRows(answer.rows, rest) })
}
