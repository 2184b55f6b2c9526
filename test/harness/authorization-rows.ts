import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { returnAddress, type Ids, type Maker } from './authorization-stage.ts'

/** Who may call: the least role in the project, or another rule by name. `rulesOf` says what each means for each caller. */
export type Rule =
  | 'open'
  | 'signed-in'
  | 'person'
  | 'viewer'
  | 'editor'
  | 'editor-in-person'
  | 'owner'
  | 'administrator'
  | 'owner-of-key'
  | 'owner-of-token'
  | 'maker-of-tokens'
  | 'maker-of-projects'
  | 'any-key'
  | 'key-of-project'
  | 'viewer-or-key'
  | 'owner-in-person'
  | 'any-client'
  | 'nobody'

export type Row = {
  rule: Rule
  /** What whoever may call is answered; 200 unless given. */
  status?: number
  search?: string
  body?: Record<string, unknown> | ((ids: Ids) => Record<string, unknown>)
  /** Parameters that name something new for each call, because the call uses it up. */
  fresh?: Partial<Record<keyof Ids, Maker>>
  /** Each call signs in anew, because the call ends or replaces the session. */
  session?: 'fresh'
  /** The answer has no end. */
  stream?: true
}

const row =
  (rule: Rule) =>
  (rest: Omit<Row, 'rule'> = {}): Row => ({ rule, ...rest })
const open = row('open')
const viewer = row('viewer')
const editor = row('editor')
const owner = row('owner')
const anyClient = row('any-client')
const ownerOfKey = row('owner-of-key')

const sql = 'SELECT id FROM orders'
const evaluation = { question: 'Which orders came from the north?', expected_query: null }
const alert = { name: 'errors', type: 'requests_above', threshold: 100 }
/** Also where the web app is not built, the page is nobody's secret. */
const isBuilt = existsSync(join(import.meta.dirname, '../../web/dist/index.html'))
const page = open({ status: isBuilt ? 200 : 404 })

const projects: Record<string, Row> = {
  'GET /v1/projects': row('signed-in')(),
  'POST /v1/projects': row('maker-of-projects')({ status: 201, body: { name: 'Another' } }),
  'GET /v1/projects/:project_id': viewer(),
  'PATCH /v1/projects/:project_id': owner({ body: { name: 'Shop' } }),
  'DELETE /v1/projects/:project_id': owner({ status: 204, fresh: { project_id: 'project' } }),
  'GET /v1/projects/:project_id/openapi.json': row('viewer-or-key')(),
  'GET /v1/projects/:project_id/shared-references': viewer(),
  'PUT /v1/projects/:project_id/shared-references/:environment': owner(),
  'DELETE /v1/projects/:project_id/shared-references/:environment': owner({
    status: 204,
    fresh: { environment: 'sharedEnvironment' },
  }),
  'POST /v1/shared-references/read': open({
    fresh: { link: 'referenceLink' },
    body: ({ link }) => ({ token: link }),
  }),
  'GET /v1/projects/:project_id/environments': viewer(),
  'POST /v1/projects/:project_id/environments': owner({ status: 201, body: ({ unique }) => ({ name: unique }) }),
  'DELETE /v1/projects/:project_id/environments/:environment': owner({
    status: 204,
    fresh: { environment: 'environment' },
  }),
  'GET /v1/projects/:project_id/members': viewer(),
  'PATCH /v1/projects/:project_id/members/:user_id': owner({ body: { role: 'viewer' } }),
  'DELETE /v1/projects/:project_id/members/:user_id': owner({ status: 204, fresh: { user_id: 'member' } }),
  'GET /v1/projects/:project_id/invitations': owner(),
  'POST /v1/projects/:project_id/invitations': owner({ status: 201, body: { role: 'viewer' } }),
  'DELETE /v1/projects/:project_id/invitations/:invitation_id': owner({
    status: 204,
    fresh: { invitation_id: 'invitation' },
  }),
}

const data: Record<string, Row> = {
  'POST /v1/http/test-connection': row('signed-in')({ body: ({ url }) => ({ url, method: 'GET' }) }),
  'POST /v1/http/import-curl': row('signed-in')({ body: { command: 'curl https://example.org' } }),
  'POST /v1/http/import': row('signed-in')({ body: { text: '{"openapi":"3.1.0","paths":{}}' } }),
  'POST /v1/http/execute-request': editor({
    body: ({ project_id, datasource_id, url }) => ({
      project_id,
      datasource_id,
      connect_spec: { name: 'stock', id: 'http_api' },
      url,
      method: 'GET',
    }),
  }),
  'GET /v1/projects/:project_id/datasources': viewer(),
  'POST /v1/projects/:project_id/datasources': editor({
    status: 201,
    body: ({ unique }) => ({ name: unique, kind: 'http_api' }),
  }),
  'GET /v1/projects/:project_id/datasources/:datasource_id': viewer(),
  'PATCH /v1/projects/:project_id/datasources/:datasource_id': editor({ body: { keep_versions: 5 } }),
  'GET /v1/projects/:project_id/datasources/:datasource_id/schema': viewer(),
  'PATCH /v1/projects/:project_id/datasources/:datasource_id/schema': editor({ body: { on_mismatch: 'widen' } }),
  'GET /v1/projects/:project_id/datasources/:datasource_id/versions': viewer(),
  'POST /v1/projects/:project_id/datasources/:datasource_id/versions/:version/activate': editor(),
  'POST /v1/projects/:project_id/datasources/:datasource_id/versions/:version/restore': editor(),
  'DELETE /v1/projects/:project_id/datasources/:datasource_id': editor({
    status: 204,
    fresh: { datasource_id: 'datasource' },
  }),
  'POST /v1/projects/:project_id/datasources/:datasource_id/refresh': editor({
    status: 201,
    fresh: { datasource_id: 'datasource' },
  }),
  'POST /v1/projects/:project_id/datasources/:datasource_id/files': editor({ status: 201, body: { id: 1 } }),
  'GET /v1/projects/:project_id/datasources/:datasource_id/authorization': viewer({
    fresh: { datasource_id: 'connectedDatasource' },
  }),
  'POST /v1/projects/:project_id/datasources/:datasource_id/authorization': row('editor-in-person')({
    status: 201,
    fresh: { datasource_id: 'connectedDatasource' },
  }),
  'DELETE /v1/projects/:project_id/datasources/:datasource_id/authorization': editor({
    status: 204,
    fresh: { datasource_id: 'connectedDatasource' },
  }),
  // Nobody comes back from anywhere here.
  'POST /v1/oauth/return': row('person')({ status: 400, body: { server: 'x', state: 'x', code: 'x' } }),
  'GET /v1/projects/:project_id/variables': viewer(),
  'POST /v1/projects/:project_id/variables': editor({
    status: 201,
    body: ({ unique }) => ({ name: unique, value: 'v' }),
  }),
  'PATCH /v1/projects/:project_id/variables/:variable_id': editor({ body: { value: 'w' } }),
  'DELETE /v1/projects/:project_id/variables/:variable_id': editor({ status: 204, fresh: { variable_id: 'variable' } }),
  'GET /v1/projects/:project_id/data-objects': viewer(),
  'GET /v1/projects/:project_id/data-objects/:data_object_id': viewer(),
  'DELETE /v1/projects/:project_id/data-objects/:data_object_id': editor({
    status: 204,
    fresh: { data_object_id: 'dataObject' },
  }),
  'GET /v1/projects/:project_id/data-objects/:data_object_id/lineage': viewer(),
  'GET /v1/projects/:project_id/data-objects/:data_object_id/rows': viewer(),
  'GET /v1/projects/:project_id/data-objects/:data_object_id/download': viewer(),
  'GET /v1/projects/:project_id/map': viewer(),
  'GET /v1/projects/:project_id/jobs': viewer(),
  'GET /v1/projects/:project_id/jobs/events': viewer({ stream: true }),
  'GET /v1/jobs/:job_id': viewer(),
  'POST /v1/jobs/:job_id/cancel': editor({ fresh: { job_id: 'queuedJob' } }),
  'POST /v1/jobs/:job_id/retry': editor({ status: 201, fresh: { job_id: 'cancelledJob' } }),
}

const query = '/v1/projects/:project_id/queries/:query_name'
const queries: Record<string, Row> = {
  'GET /v1/projects/:project_id/queries': viewer(),
  'POST /v1/projects/:project_id/queries': editor({ status: 201, body: ({ unique }) => ({ name: unique, sql }) }),
  'POST /v1/projects/:project_id/queries/inspect': editor({ body: { sql } }),
  'POST /v1/projects/:project_id/queries/run': editor({ body: { sql } }),
  [`GET ${query}`]: viewer(),
  [`PUT ${query}`]: editor({ body: { description: 'The orders that came from a region' } }),
  [`PUT ${query}/tags`]: editor({ body: { tags: ['sales'] } }),
  [`POST ${query}/rename`]: editor({ fresh: { query_name: 'query' }, body: ({ unique }) => ({ name: unique }) }),
  [`DELETE ${query}`]: editor({ status: 204, fresh: { query_name: 'query' } }),
  [`POST ${query}/preview`]: editor({ body: { parameters: { region: 'north' } } }),
  [`POST ${query}/explain`]: editor({ body: { parameters: { region: 'north' } } }),
  [`POST ${query}/deploy`]: editor({
    fresh: { query_name: 'query' },
    body: { environment: 'development', force: true },
  }),
  [`POST ${query}/promote`]: editor({ body: { from: 'production', to: 'staging', check: true } }),
  [`POST ${query}/rollback`]: editor({ body: { version: 1 } }),
  [`POST ${query}/undeploy`]: editor({ body: { check: true } }),
  [`GET ${query}/advice`]: editor(),
  [`GET ${query}/versions`]: viewer(),
  [`GET ${query}/versions/:version`]: viewer(),
  [`GET ${query}/diff`]: viewer({ search: '?from=1' }),
  [`GET ${query}/history`]: viewer(),
  'GET /v1/projects/:project_id/deployments': viewer(),
  'GET /v1/projects/:project_id/releases': viewer(),
  'POST /v1/projects/:project_id/releases': editor({
    body: ({ query_name: name }) => ({ queries: [{ name }], check: true }),
  }),
  'GET /v1/projects/:project_id/releases/:release_id': viewer(),
  'POST /v1/projects/:project_id/releases/:release_id/rollback': editor({ body: { check: true, force: true } }),
  'POST /v1/projects/:project_id/promote': editor({ body: { from: 'production', to: 'staging', check: true } }),
  'GET /v1/projects/:project_id/definition': viewer(),
  'PUT /v1/projects/:project_id/definition': editor({ search: '?check=true', body: { definition: 1, queries: [] } }),
  'POST /v1/projects/:project_id/releases/:release_id/continue': editor({ status: 409, body: { percent: 50 } }),
  'GET /v1/projects/:project_id/replay-settings': viewer(),
  'POST /v1/projects/:project_id/engine': owner({ status: 409, body: { engine: 'trino' } }),
  'GET /v1/projects/:project_id/replays': viewer(),
  'POST /v1/projects/:project_id/replays': editor({ status: 409, body: { environment: 'staging' } }),
  'GET /v1/projects/:project_id/replays/:replay_id': viewer(),
  'GET /v1/projects/:project_id/replays/:replay_id/calls': viewer(),
  'GET /v1/projects/:project_id/replays/:replay_id/calls/:call_id': editor(),
  // Last: switching it off deletes the call that is read above.
  'PUT /v1/projects/:project_id/replay-settings': owner({ body: { recording: false } }),
}

const questions: Record<string, Row> = {
  'POST /v1/projects/:project_id/ask': viewer({ body: { question: 'Which orders came from the south?' } }),
  'GET /v1/projects/:project_id/questions': viewer(),
  'GET /v1/projects/:project_id/questions/unanswered': viewer(),
  'POST /v1/projects/:project_id/questions/resolve': editor({
    body: { questions: ['What is the weather?'], as: 'dismissed' },
  }),
  'GET /v1/projects/:project_id/questions/settings': viewer(),
  'PUT /v1/projects/:project_id/questions/settings': owner({ body: { log: 'full', retention_days: 30 } }),
  'POST /v1/projects/:project_id/questions/:request_id/report': viewer({
    status: 201,
    body: { expected_query: null },
    fresh: { request_id: 'question' },
  }),
  'GET /v1/projects/:project_id/counter-examples': viewer(),
  'POST /v1/projects/:project_id/counter-examples/:counter_example_id/confirm': editor(),
  'DELETE /v1/projects/:project_id/counter-examples/:counter_example_id': editor({
    status: 204,
    fresh: { counter_example_id: 'counterExample' },
  }),
  'GET /v1/projects/:project_id/evaluations': viewer(),
  'POST /v1/projects/:project_id/evaluations': editor({
    status: 201,
    body: ({ unique }) => ({ question: `Is ${unique} there?`, expected_query: null }),
  }),
  'PUT /v1/projects/:project_id/evaluations/:evaluation_id': editor({ body: evaluation }),
  'DELETE /v1/projects/:project_id/evaluations/:evaluation_id': editor({
    status: 204,
    fresh: { evaluation_id: 'evaluation' },
  }),
  'POST /v1/projects/:project_id/evaluations/run': editor({ status: 201, body: {} }),
  'GET /v1/projects/:project_id/evaluations/runs': viewer(),
  'GET /v1/projects/:project_id/evaluations/runs/:run_id': viewer(),
}

const usage: Record<string, Row> = {
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

const credentials: Record<string, Row | Row[]> = {
  'GET /v1/api-keys': row('signed-in')(),
  'POST /v1/api-keys': owner({
    status: 201,
    body: ({ project_id }) => ({ name: 'one more', permissions: [{ project_id, environments: '*' }] }),
  }),
  'GET /v1/api-keys/:key_id': ownerOfKey(),
  'PATCH /v1/api-keys/:key_id': ownerOfKey({ body: { name: 'renamed' } }),
  'DELETE /v1/api-keys/:key_id': ownerOfKey({ status: 204, fresh: { key_id: 'key' } }),
  'POST /v1/api-keys/:key_id/rotate': ownerOfKey({ fresh: { key_id: 'key' } }),
  'POST /v1/api-keys/:key_id/disable': ownerOfKey({ fresh: { key_id: 'key' } }),
  'POST /v1/api-keys/:key_id/enable': ownerOfKey({ fresh: { key_id: 'key' } }),
  'GET /v1/api-keys/:key_id/reach': ownerOfKey(),
  'GET /v1/api-keys/:key_id/usage': ownerOfKey(),
  'GET /v1/api-keys/:key_id/addresses': ownerOfKey(),
  'GET /v1/oauth/client': row('person')({ search: `?client_id=:client_id&redirect_uri=${returnAddress}` }),
  'POST /v1/oauth/approvals': row('owner-in-person')({
    status: 201,
    body: ({ client_id, project_id }) => ({
      client_id,
      project_id,
      environment: 'production',
      redirect_uri: returnAddress,
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
    }),
  }),
  'GET /v1/plans': row('signed-in')(),
  'GET /v1/management-tokens': row('signed-in')(),
  'POST /v1/management-tokens': row('maker-of-tokens')({
    status: 201,
    body: ({ project_id }) => ({ name: 'CI', role: 'viewer', project_id }),
  }),
  'DELETE /v1/management-tokens/:token_id': row('owner-of-token')({ status: 204, fresh: { token_id: 'token' } }),
  'GET /v1/audit': [row('administrator')(), owner({ search: '?project_id=:project_id' })],
  'GET /v1/audit/choices': [row('administrator')(), owner({ search: '?project_id=:project_id' })],
  'GET /v1/audit/export': [row('administrator')(), owner({ search: '?project_id=:project_id' })],
}

const people: Record<string, Row> = {
  'POST /v1/session': open({
    status: 201,
    session: 'fresh',
    body: ({ email, password }) => ({ email, password }),
  }),
  'POST /v1/session/link': open({
    status: 201,
    session: 'fresh',
    fresh: { link: 'signInLink' },
    body: ({ link }) => ({ token: link }),
  }),
  'GET /v1/session': row('person')(),
  'DELETE /v1/session': row('person')({ status: 204, session: 'fresh' }),
  'PATCH /v1/session/user': row('person')({ body: {} }),
  'POST /v1/invitations/read': open({ fresh: { link: 'joinLink' }, body: ({ link }) => ({ token: link }) }),
  'POST /v1/invitations/accept': open({
    status: 201,
    session: 'fresh',
    fresh: { link: 'joinLink' },
    body: ({ link, unique }) => ({
      token: link,
      name: unique,
      email: `${unique}@example.org`,
      password: 'a password of ten',
    }),
  }),
}

const service: Record<string, Row> = {
  'GET /v1/limits': row('signed-in')(),
  'GET /healthz': open(),
  'GET /readyz': open(),
  'GET /metrics': open(),
  // Whoever names the key of Trino's address, which is none of these.
  'GET /trino/access-rules': row('nobody')(),
  'GET /v1/openapi.json': open(),
  'GET /.well-known/oauth-protected-resource': open(),
  'GET /.well-known/oauth-protected-resource/mcp': open(),
  'GET /.well-known/oauth-authorization-server': open(),
  'GET /.well-known/openid-configuration': open(),
  'POST /oauth/register': anyClient({ status: 201, body: { redirect_uris: [returnAddress] } }),
  // What they are given is their credential: one that is none is refused in the words of OAuth.
  'POST /oauth/token': anyClient({ status: 400, body: { grant_type: 'refresh_token', refresh_token: 'none' } }),
  'POST /oauth/revoke': anyClient({ body: { token: 'none' } }),
  'OPTIONS /oauth/register': open({ status: 204 }),
  'OPTIONS /oauth/token': open({ status: 204 }),
  'OPTIONS /oauth/revoke': open({ status: 204 }),
  // Under another name of the server only.
  'GET /sample/shops': row('nobody')(),
  'GET /sample/products': row('nobody')(),
  'GET /sample/orders': row('nobody')(),
}

const calls: Record<string, Row> = {
  'GET /v1/key': row('any-key')(),
  'POST /v1/browser-tokens': row('key-of-project')({ status: 201, body: ({ project_id }) => ({ project_id }) }),
  'POST /v1/queries/:query_name': row('key-of-project')({
    search: '?project_id=:project_id',
    body: { region: 'north' },
  }),
  'GET /v1/queries/:query_name': row('key-of-project')({ search: '?project_id=:project_id&region=north' }),
  'OPTIONS /v1/queries/:query_name': open({ status: 204 }),
  'OPTIONS /v1/query': open({ status: 204 }),
  'POST /mcp': row('any-key')({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
  'GET /mcp': row('any-key')({ stream: true }),
  'DELETE /mcp': row('any-key')({ status: 204 }),
  'OPTIONS /mcp': open({ status: 204 }),
  'POST /v1/query': row('key-of-project')({
    body: ({ project_id }) => ({ query: 'Which orders came from the north?', project_id }),
  }),
}

/** The web app's pages: built or not, they are for everybody. */
const pages = Object.fromEntries(
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
  ].map((path) => [`GET ${path}`, page]),
)

/** Every route and who may call it. A route that is not here fails the test, and so does a row without a route. */
export const authorizationRows: Record<string, Row | Row[]> = {
  ...projects,
  ...data,
  ...queries,
  ...questions,
  ...usage,
  ...credentials,
  ...people,
  ...service,
  ...calls,
  ...pages,
}
