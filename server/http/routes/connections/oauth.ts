import {
  authorization,
  begunAuthorization,
  finishedAuthorization,
  returnedAuthorization,
} from '../../../../api/oauth.ts'
import { errorEnvelope } from '../../../../api/envelope.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import { refusals } from '../../answer/answers.ts'
import { personCallerOf } from '../../request/caller.ts'
import { untilGone } from '../../answer/gone.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { made, nothing, one, operations } from '../operations.ts'

const path = '/v1/projects/:project_id/datasources/:datasource_id/authorization'
const person = { door: 'person' } as const

/** Beginning and finishing are for whoever sits before a browser: what comes back is bound to its session. */
export function serveAuthorizations(http: Http, app: App): void {
  const { get, post, del } = operations(http, app, 'connections')
  get(
    path,
    { summary: 'Whether a datasource may ask its API in somebody’s name', answer: one(authorization) },
    (app, caller, input, { request }) =>
      connections.findAuthorization(app, caller, { ...input, baseUrl: pageLink(app, request, '/') }),
  )
  post(
    path,
    {
      config: person,
      summary: 'Begin to connect a datasource by OAuth2: where the browser goes to agree',
      answer: made(begunAuthorization),
    },
    (app, _caller, input, { request }) => {
      const { sessionId } = request.session
      const baseUrl = pageLink(app, request, '/')
      return connections.beginAuthorization(app, personCallerOf(request), { ...input, sessionId, baseUrl })
    },
  )
  del(path, { summary: 'Forget what was granted to a datasource', answer: nothing }, connections.endAuthorization)
  post(
    '/v1/oauth/return',
    {
      config: person,
      summary: 'Finish to connect: what the authorization server sent the browser back with',
      body: returnedAuthorization,
      answer: one(finishedAuthorization),
      refusals: {
        ...refusals,
        502: errorEnvelope.describe('The authorization server refused or failed.'),
        504: errorEnvelope.describe('The authorization server did not answer in time.'),
      },
    },
    (app, _caller, { server, ...returned }, { request, reply }) =>
      connections.finishAuthorization(app, personCallerOf(request), {
        ...returned,
        redirectUri: pageLink(app, request, `/connect/${encodeURIComponent(server)}`),
        sessionId: request.session.sessionId,
        signal: untilGone(reply),
      }),
  )
}
