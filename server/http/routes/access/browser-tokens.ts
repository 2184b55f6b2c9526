import { browserToken, newBrowserToken } from '../../../../api/keys.ts'
import { mintBrowserToken } from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { refusals } from '../../answer/answers.ts'
import type { Http } from '../../request/http.ts'
import { addressOf, keyCallerOf } from '../../request/query-call.ts'
import { setRateHeaders } from '../../answer/rate-headers.ts'

/** For the server behind a page: what the page may ask with, so that the key itself never reaches a browser. */
export function serveBrowserTokens(http: Http, app: App): void {
  http.post(
    '/v1/browser-tokens',
    {
      config: { door: 'query' },
      schema: {
        tags: ['calls'],
        summary: 'Make a short-lived token for a page in a browser',
        description:
          'With an API key, from a server. The token asks questions and calls queries of one project and environment, no more than the key may, and ends with the key. Counts as a call. Nothing is stored.',
        security: [{ api_key: [] }],
        body: newBrowserToken,
        response: { 201: browserToken, ...refusals },
      },
    },
    async (request, reply) => {
      const { body } = request
      const caller = keyCallerOf(request)
      const named = addressOf(request)
      const minted = mintBrowserToken(app, caller, {
        projectId: body.project_id ?? named.projectId,
        environment: body.environment ?? named.environment,
        queries: body.queries ?? null,
        fixedParameters: body.fixed_parameters ?? {},
        rate: { perMinute: body.rate_limit.per_minute, burst: body.rate_limit.burst },
        lifeSeconds: body.expires_in_seconds,
      })
      setRateHeaders(reply, caller.standings)
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({
          token: minted.text,
          expires_at: new Date(minted.expiresAtMs).toISOString(),
          project_id: minted.projectId,
          environment: minted.environment,
          queries: minted.queries,
          fixed_parameters: Object.keys(minted.fixedParameters),
          rate_limit: { per_minute: minted.rate.perMinute, burst: minted.rate.burst },
        })
    },
  )
}
