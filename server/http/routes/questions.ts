import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { errorEnvelope } from '../../../api/envelope.ts'
import { askQuestion, questionAnswer } from '../../../api/questions.ts'
import type { App } from '../../app.ts'
import { Failure } from '../../failure.ts'
import { runQuery, streamQuery, type Run } from '../../queries/index.ts'
import { askedRun, wireRouting } from '../../questions/index.ts'
import { refusals } from '../answers.ts'
import { watchArrivals } from '../arrivals.ts'
import { openEarlyRefusals } from '../early-refusals.ts'
import { formatOf } from '../formats.ts'
import { untilGone } from '../gone.ts'
import type { Http } from '../http.ts'
import { aroundRows, sendBytes } from '../query-answer.ts'
import { addressOf, keyCallerOf, limitQuery } from '../query-call.ts'
import { takePlace, type QuestionPlace } from '../question-place.ts'
import { sendStream } from '../query-stream.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the route of questions. */
    place: QuestionPlace
  }
}

/** The one endpoint for questions in plain language. */
export function serveQuestions(http: Http, app: App): void {
  const early = openEarlyRefusals(app, 'question')
  const othersIn = watchArrivals(http.server)

  http.post(
    '/v1/query',
    {
      config: { door: 'query' },
      // Before the body is read: what is refused must cost less than what is answered.
      onRequest: async (request, reply) => {
        request.place = takePlace(app.router.turnstile, app.config.limits.questionWaitMs)
        reply.raw.once('close', request.place.leave)
        await othersIn()
      },
      preValidation: async (request) => request.place.bodyIsIn(),
      onError: early.onError,
      schema: {
        tags: ['calls'],
        summary: 'Ask in plain language',
        description:
          'The matching deployed query is chosen, its slots are filled, and it runs. JSON in one piece, server-sent events with `stream`, or NDJSON by Accept.',
        body: askQuestion,
        response: {
          200: questionAnswer,
          422: errorEnvelope.describe(
            'Not answerable: `no_match`, `ambiguous` (with candidates) or `missing_slots` (with what was found and a JSON Schema of what is missing).',
          ),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      const asked = {
        question: body.query,
        projectId: projectOf(request, body),
        environment: addressOf(request).environment,
        queryName: body.query_name,
        parameters: body.parameters,
        timeZone: body.time_zone,
        explain: body.explain,
        fresh: /\bno-(cache|store)\b/i.test(request.headers['cache-control'] ?? ''),
        signal: () => untilGone(reply),
        onDecided: request.place.leave,
      }
      early.begin(request)
      const { run, decision } = await askedRun(app, keyCallerOf(request), asked)
      await limitQuery(app, run, { request, reply })
      const { unused } = decision.routing.explanation
      const extra = {
        // An answer that leaves a value of the question aside says so without being asked.
        ...(unused.length > 0 && { unused: unused.map(({ text }) => text) }),
        ...(body.explain && { routing: wireRouting(decision) }),
      }
      return answerRun(app, run, { request, reply, stream: body.stream, extra })
    },
  )
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

type Reply = { request: FastifyRequest; reply: FastifyReply; stream: boolean; extra: Record<string, unknown> }

async function answerRun(app: App, run: Run, { request, reply, stream, extra }: Reply): Promise<FastifyReply> {
  const accepted = formatOf(request.headers.accept)
  const format = accepted === 'ndjson' ? 'ndjson' : stream || accepted === 'sse' ? 'sse' : 'json'
  // A row a line has no place for the name, so the header says it for every form.
  void reply.headers({ vary: 'accept', 'x-sluice-version': run.version.number, 'x-sluice-query': run.name })
  if (format === 'json') {
    const { answer, cache, parameters } = await runQuery(app, run)
    if (cache !== null) void reply.header('x-cache', cache)
    const rest = {
      query_used: run.name,
      parameters,
      execution_time_ms: answer.elapsedMs,
      row_count: answer.rowCount,
      truncated: answer.truncated,
      version: answer.version,
      as_of: answer.asOf,
      ...extra,
    }
    return sendBytes(reply, aroundRows(answer.rows, rest))
  }
  const answer = await streamQuery(app, run, format === 'sse' ? 'json' : format)
  if (answer.cache !== null) void reply.header('x-cache', answer.cache)
  if (answer.asOf !== null) void reply.header('x-sluice-as-of', answer.asOf.toISOString())
  return sendStream(request, reply, { answer, format, name: run.name, meta: extra })
}
