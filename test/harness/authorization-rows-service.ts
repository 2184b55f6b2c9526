import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { editor, open, row, viewer, type Row } from './authorization-row.ts'
import { returnAddress } from './authorization-stage.ts'
import { builds } from './builds.ts'

/** What a project does once it serves: usage and alerts, calls, and the service's own routes and pages. */

const anyClient = row('any-client')
const alert = { name: 'errors', type: 'requests_above', threshold: 100 }
/** Also where the web app is not built, the page is nobody's secret. */
await builds()
const isBuilt = existsSync(join(import.meta.dirname, '../../web/dist/index.html'))
const page = open({ status: isBuilt ? 200 : 404 })

export const usage: Record<string, Row> = {
  'GET /v1/projects/:project_id/metrics': viewer(),
  'GET /v1/projects/:project_id/metrics/queries': viewer(),
  'GET /v1/projects/:project_id/timeline': viewer(),
  'GET /v1/projects/:project_id/views': viewer(),
  'POST /v1/projects/:project_id/views': editor({
    status: 201,
    body: ({ unique }) => ({ page: 'requests', name: unique, filter: {}, shared: true }),
  }),
  'PATCH /v1/projects/:project_id/views/:view_id': editor({ body: { filter: { outcome: 'failed' } } }),
  'DELETE /v1/projects/:project_id/views/:view_id': editor({ status: 204, fresh: { view_id: 'view' } }),
  'GET /v1/projects/:project_id/requests': viewer(),
  'GET /v1/projects/:project_id/requests/:request_id': viewer(),
  'GET /v1/projects/:project_id/requests/events': viewer({ stream: true }),
  'GET /v1/projects/:project_id/alerts': viewer(),
  'POST /v1/projects/:project_id/alerts': editor({ status: 201, body: alert }),
  'GET /v1/projects/:project_id/alerts/:alert_id': viewer(),
  'PATCH /v1/projects/:project_id/alerts/:alert_id': editor({ body: { threshold: 90 } }),
  'DELETE /v1/projects/:project_id/alerts/:alert_id': editor({ status: 204, fresh: { alert_id: 'alert' } }),
  'POST /v1/projects/:project_id/alerts/preview': viewer({ body: { type: 'requests_above', threshold: 100 } }),
  'POST /v1/projects/:project_id/alerts/:alert_id/silence': editor({ body: { minutes: 5 } }),
  'DELETE /v1/projects/:project_id/alerts/:alert_id/silence': editor(),
  'GET /v1/projects/:project_id/alert-channels': viewer(),
  'POST /v1/projects/:project_id/alert-channels': editor({
    status: 201,
    body: ({ unique }) => ({ name: unique, channel: { type: 'slack', url: 'https://hooks.example.com/x' } }),
  }),
  'PATCH /v1/projects/:project_id/alert-channels/:shared_channel_id': editor({ body: {} }),
  'DELETE /v1/projects/:project_id/alert-channels/:shared_channel_id': editor({
    status: 204,
    fresh: { shared_channel_id: 'sharedChannel' },
  }),
  'POST /v1/projects/:project_id/alert-channels/:shared_channel_id/test': editor(),
  'POST /v1/projects/:project_id/alert-channels/:shared_channel_id/rotate': editor(),
  'POST /v1/projects/:project_id/alerts/:alert_id/test': editor(),
  'POST /v1/projects/:project_id/alerts/:alert_id/channels/:channel_id/rotate': editor(),
  'GET /v1/projects/:project_id/alerts/:alert_id/history': viewer(),
  'GET /v1/projects/:project_id/alerts/:alert_id/deliveries': viewer(),
}

export const service: Record<string, Row> = {
  'GET /v1/limits': row('signed-in')(),
  'GET /healthz': open(),
  'GET /readyz': open(),
  'GET /metrics': open(),
  // Whoever names the key of Trino's address, which is none of these.
  'GET /trino/access-rules': row('nobody')(),
  'GET /v1/openapi.json': open(),
  'GET /.well-known/oauth-protected-resource': open(),
  'GET /.well-known/oauth-protected-resource/mcp': open(),
  'GET /.well-known/oauth-protected-resource/mcp/build': open(),
  'GET /.well-known/oauth-authorization-server': open(),
  'GET /.well-known/openid-configuration': open(),
  'POST /oauth/register': anyClient({ status: 201, body: { redirect_uris: [returnAddress] } }),
  'POST /oauth/device_authorization': anyClient({ body: { client_id: 'sluice-cli' } }),
  // What they are given is their credential: one that is none is refused in the words of OAuth.
  'POST /oauth/token': anyClient({ status: 400, body: { grant_type: 'refresh_token', refresh_token: 'none' } }),
  'POST /oauth/revoke': anyClient({ body: { token: 'none' } }),
  'OPTIONS /oauth/register': open({ status: 204 }),
  'OPTIONS /oauth/device_authorization': open({ status: 204 }),
  'OPTIONS /oauth/token': open({ status: 204 }),
  'OPTIONS /oauth/revoke': open({ status: 204 }),
  // Under another name of the server only.
  'GET /sample/shops': row('nobody')(),
  'GET /sample/products': row('nobody')(),
  'GET /sample/orders': row('nobody')(),
}

export const calls: Record<string, Row> = {
  'GET /v1/key': row('any-key')(),
  'POST /v1/browser-tokens': row('key-of-project')({ status: 201, body: ({ project_id }) => ({ project_id }) }),
  'POST /v1/queries/:query_name': row('key-of-project')({
    search: '?project_id=:project_id',
    body: { region: 'north' },
  }),
  'GET /v1/queries/:query_name': row('key-of-project')({ search: '?project_id=:project_id&region=north' }),
  'OPTIONS /v1/queries/:query_name': open({ status: 204 }),
  'OPTIONS /v1/query': open({ status: 204 }),
  'POST /mcp/build': row('any-token')({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
  'POST /mcp': row('any-key')({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
  'GET /mcp': row('any-key')({ stream: true }),
  'DELETE /mcp': row('any-key')({ status: 204 }),
  'OPTIONS /mcp': open({ status: 204 }),
  'POST /v1/query': row('key-of-project')({
    body: ({ project_id }) => ({ query: 'Which orders came from the north?', project_id }),
  }),
}

/** The web app's pages: built or not, they are for everybody. */
export const pages = Object.fromEntries(
  [
    '/',
    '/sign-in',
    '/join',
    '/connect/:server',
    '/p/*',
    '/account',
    '/docs',
    '/docs/*',
    '/reference/:project_id',
    '/oauth/authorize',
    '/device',
  ].map((path) => [`GET ${path}`, page]),
)
