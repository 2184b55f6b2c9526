import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import {
  adviceFilter,
  changeQuery,
  explainAnswer,
  inspection,
  inspectSql,
  newQuery,
  previewAnswer,
  previewQuery,
  query,
  queryAdvice,
  queryContent,
  renameQuery,
  scratchQuery,
  tagQuery,
} from '../../../api/queries.ts'
import type { App } from '../../app.ts'
import { Failure } from '../../failure.ts'
import * as queries from '../../queries/index.ts'
import * as questions from '../../questions/index.ts'
import { noContent, refusals, runRefusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import { untilGone } from '../answer/gone.ts'
import type { Http } from '../request/http.ts'
import { aroundRows, sendBytes } from '../answer/query-answer.ts'
import { sendStream } from '../answer/query-stream.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['queries']
const ofProject = z.object({ project_id: z.string() })
export const ofQuery = ofProject.extend({ query_name: z.string() })
const path = '/v1/projects/:project_id/queries'

const previewAnswers = {
  description: 'The rows.',
  content: {
    'application/json': { schema: previewAnswer },
    'application/x-ndjson': { schema: z.string() },
    'text/csv': { schema: z.string() },
    'application/vnd.apache.parquet': { schema: z.unknown() },
    'application/vnd.apache.arrow.stream': { schema: z.unknown() },
  },
}

// Over 70 lines: a list of routes.
export function serveQueries(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'The queries of a project, by name',
        params: ofProject,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(query), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await queries.listQueries(app, callerOf(request), input)
      return { data: page.items.map(wireQuery), next_cursor: page.nextCursor }
    },
  )

  http.post(
    path,
    {
      schema: {
        tags,
        summary: 'Write a query',
        params: ofProject,
        body: newQuery,
        response: { 201: query, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...fromWire(newQuery, request.body) }
      const made = await queries.createQuery(app, callerOf(request), input)
      return withEtag(reply.code(201), made)
    },
  )

  http.get(
    `${path}/:query_name`,
    { schema: { tags, summary: 'One query', params: ofQuery, response: { 200: query, ...refusals } } },
    async (request, reply) => withEtag(reply, await queries.findQuery(app, callerOf(request), named(request.params))),
  )

  http.put(
    `${path}/:query_name`,
    {
      schema: {
        tags,
        summary: 'Edit the draft of a query; what is deployed stays as it is',
        params: ofQuery,
        headers: z.object({ 'if-match': z.string().max(100).optional() }),
        body: changeQuery,
        response: { 200: query, ...refusals },
      },
    },
    async (request, reply) => {
      const { name, ...changes } = fromWire(changeQuery, request.body)
      if (name !== undefined && name !== request.params.query_name) throw cannotRename()
      const revision = revisionOf(request.headers['if-match'])
      const input = { ...named(request.params), revision, changes }
      return withEtag(reply, await queries.changeQuery(app, callerOf(request), input))
    },
  )

  http.put(
    `${path}/:query_name/tags`,
    {
      schema: {
        tags,
        summary: 'Sort a query by words of your own',
        params: ofQuery,
        body: tagQuery,
        response: { 200: query, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { ...named(request.params), tags: request.body.tags }
      return withEtag(reply, await queries.tagQuery(app, callerOf(request), input))
    },
  )

  http.post(
    `${path}/:query_name/rename`,
    {
      schema: {
        tags,
        summary: 'Give a query that is deployed nowhere another name',
        description: 'Its versions, evaluation cases and alerts follow. 409 `in_use` while it is deployed.',
        params: ofQuery,
        body: renameQuery,
        response: { 200: query, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { ...named(request.params), to: request.body.name }
      return withEtag(reply, await queries.renameQuery(app, callerOf(request), input))
    },
  )

  http.delete(
    `${path}/:query_name`,
    {
      schema: {
        tags,
        summary: 'Delete a query that is deployed nowhere, with its versions',
        params: ofQuery,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await queries.deleteQuery(app, callerOf(request), named(request.params))
      return reply.code(204).send()
    },
  )
}

// Over 70 lines: a list of routes.
export function serveAuthoring(http: Http, app: App): void {
  http.post(
    `${path}/inspect`,
    {
      schema: {
        tags,
        summary: 'What SQL reads, needs and returns, without running it',
        params: ofProject,
        body: inspectSql,
        response: { 200: inspection, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.body }
      return queries.inspectQuery(app, callerOf(request), input)
    },
  )

  http.post(
    `${path}/run`,
    {
      schema: {
        tags,
        summary: 'Run SQL that is not saved, with the limits of a preview',
        params: ofProject,
        body: scratchQuery,
        response: { 200: previewAnswer, ...runRefusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...fromWire(scratchQuery, request.body) }
      const { answer } = await queries.runScratch(app, callerOf(request), { ...input, signal: () => untilGone(reply) })
      return sendPreview(app, reply, { projectId: input.projectId, answer })
    },
  )

  http.get(
    `${path}/:query_name/advice`,
    {
      schema: {
        tags,
        summary: 'What would make questions find a draft more surely, with changes that can be taken',
        params: ofQuery,
        querystring: adviceFilter,
        response: { 200: z.object({ data: z.array(queryAdvice), next_cursor: z.null() }), ...refusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), ...request.query }
      return { data: await questions.adviseQuery(app, callerOf(request), input), next_cursor: null }
    },
  )

  http.post(
    `${path}/:query_name/preview`,
    {
      schema: {
        tags,
        summary: 'Run the draft',
        description: 'JSON in one piece with the first rows, or by ?format= a file with all of them.',
        params: ofQuery,
        querystring: z.strictObject({ format: z.enum(['json', 'csv', 'ndjson', 'parquet', 'arrow']).default('json') }),
        body: previewQuery,
        response: { 200: previewAnswers, ...runRefusals },
      },
    },
    async (request, reply) => {
      const input = { ...named(request.params), ...request.body, signal: () => untilGone(reply) }
      const { format } = request.query
      if (format !== 'json') {
        const stream = await queries.streamDraft(app, callerOf(request), { ...input, format })
        const { readerBytesPerSecond: leastBytesPerSecond } = app.config.limits
        return sendStream(request, reply, { answer: stream, format, leastBytesPerSecond })
      }
      const { answer } = await queries.previewQuery(app, callerOf(request), input)
      return sendPreview(app, reply, { projectId: request.params.project_id, answer })
    },
  )

  http.post(
    `${path}/:query_name/explain`,
    {
      schema: {
        tags,
        summary: 'The plan of the draft',
        params: ofQuery,
        body: previewQuery,
        response: { 200: explainAnswer, ...runRefusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), ...request.body }
      return toWire(explainAnswer, await queries.explainQuery(app, callerOf(request), input))
    },
  )
}

/** The rows came as bytes and are sent as they are. */
function sendPreview(
  app: App,
  reply: FastifyReply,
  { projectId, answer }: { projectId: string; answer: queries.Answer },
) {
  const { rows, columns, rowCount, truncated, elapsedMs, asOf } = answer
  const rest = { columns, row_count: rowCount, truncated, execution_time_ms: elapsedMs, as_of: asOf }
  return sendBytes(app, reply, { projectId, body: aroundRows(rows, rest) })
}

export function named(params: z.output<typeof ofQuery>): { projectId: string; name: string } {
  return { projectId: params.project_id, name: params.query_name }
}

export function wireContent(content: queries.QueryContent): z.output<typeof queryContent> {
  return toWire(queryContent, content)
}

export function wireQuery(found: queries.Query): z.output<typeof query> {
  return toWire(query, found)
}

function withEtag(reply: FastifyReply, found: queries.Query): FastifyReply {
  return reply.header('etag', `"${found.revision}"`).send(wireQuery(found))
}

function revisionOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '*') return undefined
  const revision = /^(?:W\/)?"(\d{1,9})"$/.exec(header)?.[1]
  if (revision !== undefined) return Number(revision)
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    details: [{ field: 'if-match', message: 'must be the ETag of the query as you read it' }],
  })
}

function cannotRename(): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: 'This edits what a query does. To rename it, use POST …/rename.',
    details: [{ field: 'name', message: 'cannot change' }],
  })
}
