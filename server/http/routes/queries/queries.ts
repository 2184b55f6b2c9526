import { fixedLimits } from '../../../../api/limits.ts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { pageOf } from '../../../../api/envelope.ts'
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
  rowFormats,
} from '../../../../api/queries.ts'
import type { App } from '../../../app.ts'
import { type Failure, invalidField } from '../../../failure.ts'
import * as queries from '../../../queries/index.ts'
import * as questions from '../../../questions/index.ts'
import { runRefusals } from '../../answer/answers.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { aroundRows, sendBytes } from '../../answer/query-answer.ts'
import { sendStream } from '../../answer/query-stream.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import { asItIs, shortList, nothing, one, operations, sent, pageOnly } from '../operations.ts'

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

export function serveQueries(http: Http, app: App): void {
  const { get, del } = operations(http, app, 'queries')
  get(
    path,
    {
      summary: 'The queries of a project, by name',
      query: pageOnly,
      answer: asItIs(pageOf(query)),
    },
    async (app, caller, input) => {
      const found = await queries.listQueries(app, caller, input)
      return { data: await wireQueries(app, found.items), next_cursor: found.nextCursor }
    },
  )
  serveDrafts(http, app)
  del(
    `${path}/:query_name`,
    { summary: 'Delete a query that is deployed nowhere, with its versions', answer: nothing },
    (app, caller, input) => queries.deleteQuery(app, caller, named(input)),
  )
}

/** Drafts carry an ETag, so that nobody overwrites what another has written meanwhile. */
function serveDrafts(http: Http, app: App): void {
  const { get, post, put } = operations(http, app, 'queries')
  const answer = asItIs(query)
  post(
    path,
    { config: { body: 'authored' }, summary: 'Write a query', body: newQuery, answer: { ...answer, status: 201 } },
    async (app, caller, input, { reply }) => withEtag(app, reply, await queries.createQuery(app, caller, input)),
  )
  get(`${path}/:query_name`, { summary: 'One query', answer }, async (app, caller, input, { reply }) =>
    withEtag(app, reply, await queries.findQuery(app, caller, named(input))),
  )
  put(
    `${path}/:query_name`,
    {
      config: { body: 'authored' },
      summary: 'Edit the draft of a query; what is deployed stays as it is',
      headers: z.object({ 'if-match': z.string().max(100).optional() }),
      body: changeQuery,
      answer,
    },
    async (app, caller, { projectId, queryName, name = queryName, ...changes }, { request, reply }) => {
      if (name !== queryName) throw cannotRename()
      const revision = revisionOf(request.headers['if-match'])
      return withEtag(app, reply, await queries.changeQuery(app, caller, { projectId, name, revision, changes }))
    },
  )
  put(
    `${path}/:query_name/tags`,
    { summary: 'Sort a query by words of your own', body: tagQuery, answer },
    async (app, caller, input, { reply }) => withEtag(app, reply, await queries.tagQuery(app, caller, named(input))),
  )
  post(
    `${path}/:query_name/rename`,
    {
      summary: 'Give a query that is deployed nowhere another name',
      description: 'Its versions, evaluation cases and alerts follow. 409 `in_use` while it is deployed.',
      body: renameQuery,
      answer,
    },
    async (app, caller, { projectId, queryName, name: to }, { reply }) =>
      withEtag(app, reply, await queries.renameQuery(app, caller, { projectId, name: queryName, to })),
  )
}

export function serveAuthoring(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'queries')
  post(
    `${path}/inspect`,
    {
      config: { body: 'authored' },
      summary: 'What SQL reads, needs and returns, without running it',
      body: inspectSql,
      answer: asItIs(inspection),
    },
    async (app, caller, input) => {
      const { tables, slots, columns, ...read } = await queries.inspectQuery(app, caller, input)
      return { tables, slots, columns, ...wireBounds(read) }
    },
  )
  serveScratch(http, app)
  get(
    `${path}/:query_name/advice`,
    {
      summary: 'What would make questions find a draft more surely, with changes that can be taken',
      query: adviceFilter,
      answer: shortList(queryAdvice, (advice: z.output<typeof queryAdvice>) => advice),
    },
    (app, caller, input) => questions.adviseQuery(app, caller, named(input)),
  )
  servePreview(http, app)
  post(
    `${path}/:query_name/explain`,
    {
      config: { body: 'authored' },
      summary: 'The plan of the draft',
      body: previewQuery,
      answer: one(explainAnswer),
      refusals: runRefusals,
    },
    (app, caller, input) => queries.explainQuery(app, caller, named(input)),
  )
}

function serveScratch(http: Http, app: App): void {
  operations(http, app, 'queries').post(
    `${path}/run`,
    {
      summary: 'Run SQL that is not saved, with the limits of a preview',
      body: scratchQuery,
      answer: sent(previewAnswer),
      refusals: runRefusals,
    },
    async (app, caller, input, { reply }) => {
      const { answer } = await queries.runScratch(app, caller, { ...input, signal: () => untilGone(reply) })
      return sendPreview(app, reply, { projectId: input.projectId, answer })
    },
  )
}

function servePreview(http: Http, app: App): void {
  operations(http, app, 'queries').post(
    `${path}/:query_name/preview`,
    {
      config: { body: 'authored' },
      summary: 'Run the draft',
      description: 'JSON in one piece with the first rows, or by ?format= a file with all of them.',
      query: z.strictObject({ format: z.enum(rowFormats).default('json') }),
      body: previewQuery,
      answer: sent(previewAnswers),
      refusals: runRefusals,
    },
    async (app, caller, { format, ...rest }, { request, reply }) => {
      const input = { ...named(rest), signal: () => untilGone(reply) }
      if (format !== 'json') {
        const stream = await queries.streamDraft(app, caller, { ...input, format })
        const leastBytesPerSecond = fixedLimits.readerBytesPerSecond.value
        return sendStream(request, reply, { answer: stream, format, leastBytesPerSecond })
      }
      const { answer } = await queries.previewQuery(app, caller, input)
      return sendPreview(app, reply, { projectId: input.projectId, answer })
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

/** Verbs call it the name of a query where a path has others beside it. */
export function named<Input extends { queryName: string }>({ queryName, ...input }: Input) {
  return { ...input, name: queryName }
}

export function wireContent(content: queries.QueryContent): z.output<typeof queryContent> {
  return toWire(queryContent, content)
}

type Bounding = Pick<App, 'catalogs' | 'engine'>

export async function wireQuery(app: Bounding, found: queries.Query): Promise<z.output<typeof query>> {
  const { bounds, mendedSql } = await queries.boundsOf(app, found.projectId, found)
  return toWire(query, { ...found, bounds: namedBounds(bounds), mendedSql })
}

async function wireQueries(app: Bounding, found: queries.Query[]): Promise<Array<z.output<typeof query>>> {
  const read = await queries.boundsOfAll(app, found[0]?.projectId ?? '', found)
  return found.map((each, at) => {
    const { bounds = null, mendedSql = null } = read[at] ?? {}
    return toWire(query, { ...each, bounds: namedBounds(bounds), mendedSql })
  })
}

function wireBounds({
  bounds,
  mendedSql,
}: queries.QueryBounds): Pick<z.output<typeof inspection>, 'bounds' | 'mended_sql'> {
  return { bounds: namedBounds(bounds), mended_sql: mendedSql }
}

/** By the name of the slot, as slots are. */
function namedBounds(bounds: queries.SlotBound[] | null): z.output<typeof inspection>['bounds'] {
  if (bounds === null) return null
  const named = bounds.map((read) => {
    const { slot, side, from, problem } = read
    const shown = problem === null ? null : { reason: problem.reason, message: problem.message }
    return [slot, { side, bound: queries.saidBound(read), from, problem: shown }] as const
  })
  return Object.fromEntries(named)
}

function withEtag(app: Bounding, reply: FastifyReply, found: queries.Query): Promise<z.output<typeof query>> {
  void reply.header('etag', `"${found.revision}"`)
  return wireQuery(app, found)
}

function revisionOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '*') return undefined
  const revision = /^(?:W\/)?"(\d{1,9})"$/.exec(header)?.[1]
  if (revision !== undefined) return Number(revision)
  throw invalidField('if-match', 'must be the ETag of the query as you read it')
}

function cannotRename(): Failure {
  return invalidField('name', 'cannot change', {
    message: 'This edits what a query does. To rename it, use POST …/rename.',
  })
}
