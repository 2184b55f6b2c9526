import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { createdQueryLink, newQueryLink, queryLink, queryLinksQuery } from '../../../../api/query-links.ts'
import { answer, rowFormats } from '../../../../api/queries.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { Failure } from '../../../failure.ts'
import * as queries from '../../../queries/index.ts'
import { runRefusals } from '../../answer/answers.ts'
import { tellEarlyRefusals } from '../../answer/early-refusals.ts'
import { streamFormatOf } from '../../answer/formats.ts'
import { untilGone } from '../../answer/gone.ts'
import { wantsFile } from '../../answer/query-file.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { keyCallerOf } from '../../request/query-call.ts'
import { made, nothing, operations, page } from '../operations.ts'
import { sendCall } from '../queries/query-calls.ts'

const links = '/v1/projects/:project_id/query-links'

/** Links by which spreadsheets read one query: made, listed and revoked by owners. */
export function serveQueryLinks(http: Http, app: App): void {
  const { get, post, del } = operations(http, app, 'keys')
  post(
    links,
    {
      summary: 'Make a link to one deployed query',
      description:
        'For owners, where the project allows links. Who has the link reads the rows: it needs no header, so Excel, Google Sheets and read_csv open it. Its address is in this answer and never again.',
      body: newQueryLink,
      answer: made(createdQueryLink),
    },
    async (app, caller, { projectId, query, environment, parameters = {}, ...body }, { request }) => {
      const { secret, ...link } = await queries.linkQuery(app, caller, {
        projectId,
        environment,
        query,
        parameters,
        name: body.name,
        rate: body.rateLimit,
        perDay: body.dailyQuota,
        expiresAt: new Date(body.expiresAt),
      })
      return { ...wireLink(link), url: pageLink(app, request, `/v1/shared/${secret}`) }
    },
  )
  get(
    links,
    {
      summary: 'The links to queries of a project',
      query: queryLinksQuery,
      answer: page(queryLink, (link: access.QueryLink) => toWire(queryLink, wireLink(link))),
    },
    access.listQueryLinks,
  )
  del(
    `${links}/:link_id`,
    { summary: 'Revoke a link for ever', answer: nothing },
    (app, caller, { projectId, linkId }) => access.revokeQueryLink(app, caller, { projectId, linkId }),
  )
}

function wireLink({ rate, perDay, ...link }: access.QueryLink) {
  return { ...link, rateLimit: rate, dailyQuota: perDay }
}

const file = z.object({
  file: z.string().max(100).meta({ description: 'The end of the link, with .csv, .xlsx or another format behind it.' }),
})

/** The door of links: the address is the credential, so nothing of it is logged, cached or passed on. */
export function serveSharedQueries(http: Http, app: App): void {
  http.addHook('onRequest', async (request, reply) => {
    void reply.headers({
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    const { caller, refusal } = await admitLink(app, request)
    request.keyCaller = caller
    if (refusal !== null) throw refusal
  })
  http.get(
    '/v1/shared/:file',
    {
      config: { door: 'link' },
      onError: tellEarlyRefusals(app, 'direct'),
      schema: {
        tags: ['calls'],
        summary: 'The rows of a link to a query',
        description: 'No header is needed: the address is the permission. JSON, or the format that it ends with.',
        security: [],
        params: file,
        response: { 200: answer, ...runRefusals },
      },
    },
    async (request, reply) => {
      const { format } = readFile(request)
      const answered = await queries.callLinked(app, keyCallerOf(request), {
        streamAs: streamFormatOf(format),
        keepFile: wantsFile(request, format),
        signal: () => untilGone(reply),
      })
      return sendCall(app, { request, reply, format }, answered)
    },
  )
}

type Format = (typeof rowFormats)[number]

function readFile({ params }: FastifyRequest): { secret: string; format: Format } {
  const { file: name = '' } = params as { file?: string }
  const dot = name.lastIndexOf('.')
  const ending = dot < 0 ? 'json' : name.slice(dot + 1).toLowerCase()
  const format = rowFormats.find((each) => each === ending)
  if (format !== undefined) return { secret: dot < 0 ? name : name.slice(0, dot), format }
  throw new Failure('not_found', { message: `A link ends with one of .${rowFormats.join(', .')}.` })
}

/** A link that is no good is one that is not there: a spreadsheet that hears of a credential asks its reader for one. */
async function admitLink(app: App, request: FastifyRequest): Promise<access.Admission> {
  if (Object.keys(request.query as object).length > 0) {
    throw new Failure('invalid_query', {
      reason: 'invalid_field',
      message:
        'A link has its values already, and takes none in the address: leave out what is behind the question mark.',
    })
  }
  const { secret } = readFile(request)
  try {
    return await access.admit(app, {
      credential: () => access.keyCredential(secret),
      takesBrowserTokens: false,
      opensLinks: true,
      address: request.ip,
      requestId: request.id,
    })
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'authentication_failed') throw error
    const over = { expired: 'This link has ended.', revoked: 'This link was revoked.' }[error.reason ?? '']
    throw new Failure('not_found', {
      message: `${over ?? 'There is no such link.'} Ask whoever made it for a new one.`,
    })
  }
}
