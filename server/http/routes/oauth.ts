import { z } from 'zod'
import { authorization, begunAuthorization, finishedAuthorization, returnedAuthorization } from '../../../api/oauth.ts'
import { errorEnvelope } from '../../../api/envelope.ts'
import type { App } from '../../app.ts'
import * as connections from '../../connections/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf, personCallerOf } from '../request/caller.ts'
import { untilGone } from '../answer/gone.ts'
import { pageLink, type Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['connections']
const ofDatasource = z.object({ project_id: z.string(), datasource_id: z.string() })
const path = '/v1/projects/:project_id/datasources/:datasource_id/authorization'

/** Beginning and finishing are for whoever sits before a browser: what comes back is bound to its session. */
// Over 70 lines: a list of routes.
export function serveAuthorizations(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'Whether a datasource may ask its API in somebody’s name',
        params: ofDatasource,
        response: { 200: authorization, ...refusals },
      },
    },
    async (request) => {
      const input = { ...ids(request.params), baseUrl: pageLink(app, request, '/') }
      return toWire(authorization, await connections.findAuthorization(app, callerOf(request), input))
    },
  )

  http.post(
    path,
    {
      config: { door: 'person' },
      schema: {
        tags,
        summary: 'Begin to connect a datasource by OAuth2: where the browser goes to agree',
        params: ofDatasource,
        response: { 201: begunAuthorization, ...refusals },
      },
    },
    async (request, reply) => {
      const input = {
        ...ids(request.params),
        sessionId: request.session.sessionId,
        baseUrl: pageLink(app, request, '/'),
      }
      const begun = await connections.beginAuthorization(app, personCallerOf(request), input)
      return reply.code(201).send(toWire(begunAuthorization, begun))
    },
  )

  http.delete(
    path,
    {
      schema: {
        tags,
        summary: 'Forget what was granted to a datasource',
        params: ofDatasource,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await connections.endAuthorization(app, callerOf(request), ids(request.params))
      return reply.code(204).send()
    },
  )

  http.post(
    '/v1/oauth/return',
    {
      config: { door: 'person' },
      schema: {
        tags,
        summary: 'Finish to connect: what the authorization server sent the browser back with',
        body: returnedAuthorization,
        response: {
          200: finishedAuthorization,
          ...refusals,
          502: errorEnvelope.describe('The authorization server refused or failed.'),
          504: errorEnvelope.describe('The authorization server did not answer in time.'),
        },
      },
    },
    async (request, reply) => {
      const { server, state, code, error, error_description: errorDescription } = request.body
      const redirectUri = pageLink(app, request, `/connect/${encodeURIComponent(server)}`)
      const returned = { state, code, error, errorDescription, redirectUri }
      const done = await connections.finishAuthorization(app, personCallerOf(request), {
        ...returned,
        sessionId: request.session.sessionId,
        signal: untilGone(reply),
      })
      return toWire(finishedAuthorization, done)
    },
  )
}

function ids(params: { project_id: string; datasource_id: string }): { projectId: string; datasourceId: string } {
  return { projectId: params.project_id, datasourceId: params.datasource_id }
}
