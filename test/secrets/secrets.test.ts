import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorToken } from '../harness/app.ts'
import { makeDataDir } from '../harness/data-dir.ts'
import { endService, installationTree, startService, type ServiceProcess } from '../harness/process.ts'
import { openUpstream, type Upstream } from '../harness/upstream.ts'
import { dumpOf, filesOf, finds, processesOf, type Place } from './planted.ts'

/** What the service was given or has given, by what it is. */
const secrets: Record<string, string> = {
  'the operator’s token': operatorToken,
  'the secret key': 'planted-vault-key-6d1f0c4e9a8b-aaf0',
  'the key of the language model': 'planted-llm-key-77aa01',
  'the password of the mail server': 'planted-smtp-password',
  'a password': 'planted password of a person',
  'a second password': 'planted password of that person, changed',
  'a wrong password': 'planted password that is wrong',
  'a bearer token': 'planted-bearer-81',
  'a password of basic authentication': 'planted-basic-82',
  'an API key in a header': 'planted-apikey-header-83',
  'an API key in a query': 'planted-apikey-query-84',
  'an API key in a URL': 'planted-apikey-url-85',
  'a header by its name': 'planted-header-86',
  'a header that is marked': 'planted-header-marked-87',
  'a parameter that is marked': 'planted-parameter-88',
  'a client secret': 'planted-client-secret-89',
  'a bought token': 'planted-access-token-90',
  'a field of a body': 'planted-body-field-91',
  'a raw body': 'planted-raw-body-92',
  'a secret of a test that is not stored': 'planted-ad-hoc-93',
  'a secret of a request that is refused': 'planted-refused-94',
  'a secret in a body that is no JSON': 'planted-malformed-95',
  'a secret of a webhook': 'planted-webhook-url-96',
  'a secret of a Slack address': 'planted-slack-97',
  'a pasted command’s secret': 'planted-curl-98',
  'a secret of the project': 'planted-project-secret-99',
  'a changed secret of the project': 'planted-project-secret-100',
  'a client secret of a grant': 'planted-grant-client-101',
  'the code of a grant': 'planted-grant-code-102',
  'an access token of a grant': 'planted-grant-access-103',
  'a refresh token of a grant': 'planted-grant-refresh-104',
  'a renewed access token of a grant': 'planted-grant-access-105',
  'a renewed refresh token of a grant': 'planted-grant-refresh-106',
  'the verifier of a client': 'planted-verifier-of-a-client-that-was-let-in-107',
  'a secret of a shared channel': 'planted-shared-channel-110',
  'a value of a recorded call': 'planted-recorded-value-108',
  'a value that is kept out of the record': 'planted-redacted-value-109',
}
/** Not a secret: found wherever it should be, it shows that the search sees. */
const canary = 'canary_of_the_search'

let dataDir: string
let upstream: Upstream
let service: ServiceProcess
let log = ''
/** Whether the API takes no token any more. */
let isGrantOver = false
const answers: Place[] = []
const traces: Buffer[] = []

beforeAll(async () => {
  const json = { 'content-type': 'application/json' }
  upstream = await openUpstream({
    '/v1/traces': async (request, response) => {
      traces.push(await buffer(request))
      response.writeHead(200, json).end('{}')
    },
    '/token': (_request, response) =>
      response.writeHead(200, json).end(JSON.stringify({ access_token: secrets['a bought token'], expires_in: 3600 })),
    '/grants/token': async (request, response) => {
      const { status, body } = answerGrant(new URLSearchParams((await buffer(request)).toString()))
      response.writeHead(status, json).end(JSON.stringify(body))
    },
    '/granted': (_request, response) =>
      response.writeHead(isGrantOver ? 401 : 200, json).end(isGrantOver ? '{"error":"invalid_token"}' : '[{"id":1}]'),
    '/denied': (_request, response) => response.writeHead(403, json).end('{"message":"no"}'),
    [`/hooks/${secrets['a secret of a Slack address']}`]: (_request, response) => response.writeHead(500).end('no'),
  })
  dataDir = await makeDataDir()
  service = await start()
}, 120_000)
afterAll(async () => {
  // Undefined where it did not start.
  if ((service as ServiceProcess | undefined) !== undefined) await endService(service)
  await upstream.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** Tokens that expire at once and are renewed once; then the server refuses, and says which token it does not take. */
function answerGrant(form: URLSearchParams): { status: number; body: Json } {
  const tokens = (access: string, refresh: string, lifeSeconds: number) => ({
    status: 200,
    body: { access_token: secrets[access], refresh_token: secrets[refresh], expires_in: lifeSeconds },
  })
  if (form.get('grant_type') === 'authorization_code') {
    secrets['the verifier of a grant'] = form.get('code_verifier') ?? ''
    return tokens('an access token of a grant', 'a refresh token of a grant', 1)
  }
  const token = form.get('refresh_token')
  if (token === secrets['a refresh token of a grant'])
    return tokens('a renewed access token of a grant', 'a renewed refresh token of a grant', 3600)
  return { status: 400, body: { error: 'invalid_grant', error_description: `The token ${token} is not good.` } }
}

async function start(): Promise<ServiceProcess> {
  return startService(dataDir, {
    SLUICE_LOG_LEVEL: 'debug',
    SLUICE_OUTBOUND_ALLOW: '127.0.0.1',
    SLUICE_SECRET_KEY: secrets['the secret key'] ?? '',
    SLUICE_LLM_BASE_URL: `${upstream.origin}/denied`,
    SLUICE_LLM_MODEL: 'm',
    SLUICE_LLM_API_KEY: secrets['the key of the language model'] ?? '',
    SLUICE_SMTP_URL: `smtp://sluice:${secrets['the password of the mail server']}@127.0.0.1:1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: upstream.origin,
  })
}

/** A test asserts on whatever came back. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>
type Sent = { status: number; body: Json; headers: Headers }

/** Calls and keeps the answer for the search, but for one that shows a secret to who made it, once. */
async function call(
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string>; shows?: true } = {},
): Promise<Sent> {
  const { body, headers = { authorization: `Bearer ${operatorToken}` }, shows } = options
  const answer = await fetch(service.url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await answer.text()
  const told = JSON.stringify([...answer.headers].filter(([name]) => name !== 'set-cookie'))
  if (shows === undefined) answers.push({ name: `the answer to ${method} ${path}`, content: Buffer.from(told + text) })
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return { status: answer.status, body: isJson ? JSON.parse(text) : {}, headers: answer.headers }
}

async function made(path: string, body: unknown, shows?: true): Promise<Json> {
  const sent = await call('POST', path, { body, ...(shows && { shows }) })
  expect([200, 201, 202], `${path}: ${JSON.stringify(sent.body)}`).toContain(sent.status)
  return sent.body
}

async function tell(path: string, body: unknown): Promise<void> {
  await call('POST', path, { body })
}

/** A person's headers: the owner of a session. */
async function actAsPeople(projectId: string): Promise<Record<string, string>> {
  const invitation = await made(`/v1/projects/${projectId}/invitations`, { role: 'owner' }, true)
  const token = String(invitation['link']).split('#')[1] ?? ''
  secrets['an invitation'] = token
  const origin = { origin: service.url }
  const email = 'person@example.org'
  const password = secrets['a password']
  await call('POST', '/v1/invitations/read', { body: { token }, headers: {} })
  const joined = await call('POST', '/v1/invitations/accept', {
    body: { token, name: 'P', email, password },
    headers: origin,
  })
  expect(joined.status).toBe(201)
  await call('POST', '/v1/invitations/accept', { body: { token, name: 'P', email, password }, headers: origin })
  const wrong = secrets['a wrong password']
  await call('POST', '/v1/session', { body: { email, password: wrong }, headers: origin })
  const session = await call('POST', '/v1/session', { body: { email, password }, headers: origin })
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  secrets['a cookie'] = decodeURIComponent(cookie.split('=')[1] ?? '').split('.')[0] ?? ''
  expect(secrets['a cookie'].length).toBeGreaterThan(15)
  const change = { password: secrets['a second password'], current_password: password }
  const changed = await call('PATCH', '/v1/session/user', { body: change, headers: { ...origin, cookie } })
  expect(changed.status).toBe(200)
  await call('GET', '/v1/session', { headers: { cookie } })
  return { ...origin, cookie }
}

/** A connection that a person connects by OAuth2, that renews its tokens, and whose server refuses in the end. */
async function grant(projectId: string, person: Record<string, string>): Promise<void> {
  const path = `/v1/projects/${projectId}/datasources`
  const config = {
    url: api('/granted'),
    method: 'GET',
    authType: 'OAuth2 Authorization Code',
    auth: {
      authorization_url: api('/grants/agree'),
      token_url: api('/grants/token'),
      client_id: 'c',
      client_secret: secrets['a client secret of a grant'],
    },
  }
  const { id } = await made(path, { name: 'granted', kind: 'http_api', config })
  const code = secrets['the code of a grant']
  for (const kind of ['the state of a grant', 'the state of an attempt that nobody ended']) {
    const begun = await call('POST', `${path}/${id}/authorization`, { headers: person, shows: true })
    expect(begun.status).toBe(201)
    const state = new URL(begun.body['authorization_url']).searchParams.get('state') ?? ''
    secrets[kind] = state
    const server = new URL(begun.body['redirect_uri']).pathname.split('/').at(-1)
    if (kind === 'the state of a grant') {
      const sent = { body: { server, state, code }, headers: person }
      expect((await call('POST', '/v1/oauth/return', sent)).status).toBe(200)
      await call('POST', '/v1/oauth/return', sent)
    }
  }
  const test = () => made('/v1/http/test-connection', { ...config, project_id: projectId, datasource_id: id })
  // What came expires at once and is renewed; what came then is refused.
  expect(await test()).toMatchObject({ success: true })
  isGrantOver = true
  expect((await test())['error']).toMatchObject({ code: 'token_refused' })
  const { id: jobId } = await made(`${path}/${id}/refresh`, {})
  await expect
    .poll(async () => (await call('GET', `/v1/jobs/${jobId}`)).body['status'], { timeout: 30_000 })
    .toBe('failed')
  for (const page of ['', '/authorization']) await call('GET', `${path}/${id}${page}`)
}

/** A client registers, a person lets it in, and it calls; then others come with what it has. */
async function letClientIn(projectId: string, person: Record<string, string>): Promise<void> {
  const redirectUri = 'https://client.example/back'
  const registered = await made('/oauth/register', { client_name: 'c', redirect_uris: [redirectUri] })
  const verifier = secrets['the verifier of a client'] ?? ''
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const clientId = String(registered['client_id'])
  const approved = await call('POST', '/v1/oauth/approvals', {
    body: {
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      project_id: projectId,
      environment: 'production',
    },
    headers: person,
    shows: true,
  })
  expect(approved.status).toBe(201)
  const code = new URL(approved.body['redirect_to']).searchParams.get('code') ?? ''
  secrets['the code of a client'] = code
  const exchange = async (form: Record<string, string>, shows?: true): Promise<Json> => {
    const body = new URLSearchParams({ client_id: clientId, ...form }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (await call('POST', '/oauth/token', { body, headers, ...(shows && { shows }) })).body
  }
  const byCode = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const first = await exchange(byCode, true)
  secrets['an access token of a client'] = first['access_token']
  secrets['a refresh token of a client'] = first['refresh_token']
  const second = await exchange({ grant_type: 'refresh_token', refresh_token: first['refresh_token'] }, true)
  secrets['a renewed access token of a client'] = second['access_token']
  secrets['a renewed refresh token of a client'] = second['refresh_token']
  for (const token of [first['access_token'], second['access_token']]) {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
    expect((await call('POST', `/v1/queries/${canary}`, { body: {}, headers })).status).toBe(200)
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    expect((await call('POST', '/mcp', { body: asked, headers })).status).toBe(200)
  }
  // A code that comes twice ends what it gave.
  await exchange(byCode)
  await exchange({ grant_type: 'refresh_token', refresh_token: second['refresh_token'] })
  const headers = { authorization: `Bearer ${second['access_token']}` }
  expect((await call('POST', `/v1/queries/${canary}`, { body: {}, headers })).status).toBe(401)
}

/** Calls are recorded and run again: their values are sealed, and one of them is never written down. */
async function record(projectId: string): Promise<void> {
  const project = `/v1/projects/${projectId}`
  const settings = { recording: true, redacted_slots: ['pin'] }
  expect((await call('PUT', `${project}/replay-settings`, { body: settings })).status).toBe(200)
  const text = { type: 'string' }
  const query = (more: string) => ({
    sql: `SELECT $word::VARCHAR AS word, length($pin::VARCHAR)${more} AS pin, '${canary}' AS canary`,
    slots: { type: 'object', properties: { word: text, pin: text }, required: ['word', 'pin'] },
    examples: [{ question: 'What is the word of 0?', parameters: { word: 'w', pin: '0' } }],
  })
  await made(`${project}/queries`, { name: 'recorded', ...query('') })
  await made(`${project}/queries/recorded/deploy`, { environment: 'production', force: true })
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await made('/v1/api-keys', { name: 'r', plan: 'unlimited', permissions }, true)
  secrets['a key of recorded calls'] = key['secret']
  const headers = { authorization: `Bearer ${key['secret']}` }
  const word = secrets['a value of a recorded call'] ?? ''
  const pin = secrets['a value that is kept out of the record'] ?? ''
  const values = { body: { word, pin }, headers, shows: true } as const
  await made(`${project}/queries/recorded/preview`, { parameters: { word, pin } }, true)
  expect((await call('PUT', `${project}/queries/recorded`, { body: query(' + 1') })).status).toBe(200)
  const replayed = async (): Promise<Json> => {
    expect((await call('POST', '/v1/queries/recorded', values)).status).toBe(200)
    await call('GET', `/v1/queries/recorded?word=${word}&pin=${pin}`, { headers, shows: true })
    await call('POST', '/v1/queries/recorded', { body: { word, pin, other: 1 }, headers })
    return made(`${project}/replays`, { queries: [{ name: 'recorded' }] })
  }
  let replay: Json = {}
  await expect.poll(async () => (replay = await replayed())['different'], { timeout: 30_000 }).toBeGreaterThan(0)
  const { body } = await call('GET', `${project}/replays/${replay['id']}/calls`)
  for (const { id } of body['data'] as Array<{ id: string }>) {
    const found = await call('GET', `${project}/replays/${replay['id']}/calls/${id}`, { shows: true })
    // Whoever may read it reads the values, but for the one.
    expect(JSON.stringify(found.body)).toContain(word)
    expect(JSON.stringify(found.body)).not.toContain(pin)
  }
}

async function useCredentials(projectId: string): Promise<void> {
  const token = await made('/v1/management-tokens', { name: 'CI', role: 'viewer', project_id: projectId }, true)
  secrets['a management token'] = token['secret']
  await call('GET', `/v1/projects/${projectId}`, { headers: { authorization: `Bearer ${token['secret']}` } })
  await call('DELETE', `/v1/projects/${projectId}`, { headers: { authorization: `Bearer ${token['secret']}` } })
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await made('/v1/api-keys', { name: 'k', plan: 'unlimited', permissions }, true)
  secrets['a key'] = key['secret']
  const rotated = await made(`/v1/api-keys/${key['id']}/rotate`, { grace_seconds: 60 }, true)
  secrets['a rotated key'] = rotated['secret']
  for (const secret of [key['secret'], rotated['secret'], `${key['secret']}x`]) {
    const headers = { authorization: `Bearer ${secret}` }
    await call('POST', `/v1/queries/${canary}`, { body: {}, headers })
    await call('POST', '/v1/query', { body: { query: 'how many rows are there', project_id: projectId }, headers })
    await call('GET', '/v1/key', { headers })
    await call('GET', `/v1/projects/${projectId}`, { headers })
    await call('POST', `/v1/queries/${canary}?api_key=${secret}`, { body: {}, headers: {} })
    await call('GET', `/nowhere?key=${secret}`, { headers: {} })
    const basic = Buffer.from(`x:${secret}`).toString('base64')
    await call('POST', `/v1/queries/${canary}`, { body: {}, headers: { authorization: `Basic ${basic}` } })
  }
}

const api = (route = '/rows') => `${upstream.origin}${route}`

/** One of each way in which a secret of an external API can be configured. */
function configurations(): Record<string, Record<string, unknown>> {
  const get = { url: api(), method: 'GET' }
  const post = { url: api(), method: 'POST' }
  return {
    bearer: { ...get, authType: 'Bearer Token', auth: { token: secrets['a bearer token'] } },
    basic: {
      ...get,
      authType: 'Basic Auth',
      auth: { username: 'u', password: secrets['a password of basic authentication'] },
    },
    key_header: { ...get, authType: 'API Key', auth: { key: 'X-K', value: secrets['an API key in a header'] } },
    key_query: {
      ...get,
      authType: 'API Key',
      auth: { key: 'k', value: secrets['an API key in a query'], in: 'query' },
    },
    key_url: { ...get, url: `${api()}?api_key=${secrets['an API key in a URL']}` },
    headers: {
      ...get,
      headers: {
        Authorization: `Bearer ${secrets['a header by its name']}`,
        'X-Tenant': { value: secrets['a header that is marked'], secret: true },
      },
    },
    parameter: { ...get, parameters: { tenant: { value: secrets['a parameter that is marked'], secret: true } } },
    oauth: {
      ...get,
      authType: 'OAuth2 Client Credentials',
      auth: { token_url: api('/token'), client_id: 'c', client_secret: secrets['a client secret'] },
    },
    body: { ...post, body: { type: 'json', content: { login: { password: secrets['a field of a body'] } } } },
    named: {
      url: `${api()}?note={{secret:named}}`,
      method: 'POST',
      headers: { 'X-Note': '{{secret:named}}' },
      parameters: { p: { value: '{{secret:named}}' } },
      body: { type: 'json', content: '{"note": "{{secret:named}}"}' },
    },
    raw_body: { ...post, body: { type: 'raw', content: secrets['a raw body'], content_type: 'text/plain' } },
  }
}

async function connect(projectId: string): Promise<void> {
  const path = `/v1/projects/${projectId}/datasources`
  const value = secrets['a secret of the project']
  const origins = [upstream.origin]
  const named = await made(`/v1/projects/${projectId}/variables`, { name: 'named', value, secret: true, origins })
  for (const [name, config] of Object.entries(configurations())) {
    const { id } = await made(path, { name, kind: 'http_api', config })
    await call('GET', `${path}/${id}`)
    const tested = await made('/v1/http/test-connection', { ...config, project_id: projectId, datasource_id: id })
    expect(tested['success'], name).toBe(true)
    const { url, method } = config
    // A configuration with a body is refreshed, not executed: that takes none.
    const execute = config['body'] === undefined ? made : tell
    await execute('/v1/http/execute-request', {
      project_id: projectId,
      datasource_id: id,
      connect_spec: { name, id: 'http_api', config },
      url,
      method,
    })
    const { id: jobId } = await made(`${path}/${id}/refresh`, {})
    await expect
      .poll(async () => (await call('GET', `/v1/jobs/${jobId}`)).body['status'], { timeout: 30_000 })
      .toBe('succeeded')
    // The API refuses, is not there, or hangs up: what is said about it names no secret.
    for (const to of ['/denied', '/short-body', '/html']) {
      const elsewhere = String(url).replace('/rows', to)
      await call('PATCH', `${path}/${id}`, { body: { config: { ...config, url: elsewhere } } })
      await call('POST', '/v1/http/test-connection', { body: { ...config, url: elsewhere } })
    }
    const { id: failing } = await made(`${path}/${id}/refresh`, {})
    await call('POST', `/v1/jobs/${failing}/cancel`, { body: {} })
    await call('GET', `${path}/${id}`)
  }
  const change = { body: { value: secrets['a changed secret of the project'] } }
  expect((await call('PATCH', `/v1/projects/${projectId}/variables/${named['id']}`, change)).status).toBe(200)
}

async function send(projectId: string): Promise<void> {
  const adHoc = secrets['a secret of a test that is not stored']
  const auth = { authType: 'Bearer Token', auth: { token: adHoc } }
  for (const url of [api(), 'http://127.0.0.1:1/', 'http://169.254.169.254/', `http://u:${adHoc}@example.org/`]) {
    await call('POST', '/v1/http/test-connection', { body: { url, method: 'GET', ...auth } })
  }
  const refused = secrets['a secret of a request that is refused']
  const wrong = { name: 7, kind: 'http_api', config: { url: 7, auth: { token: refused }, [`x_${refused}`]: refused } }
  // A field that is not known is named, as it was sent to who sent it; nothing else may say it.
  await call('POST', `/v1/projects/${projectId}/datasources`, { body: wrong, shows: true })
  const malformed = secrets['a secret in a body that is no JSON']
  await call('POST', `/v1/projects/${projectId}/datasources`, { body: `{"token":"${malformed}"` })
  await call('POST', '/v1/session', { body: `{"password":"${malformed}`, headers: {} })
  const command = `curl -H 'Authorization: Bearer ${secrets['a pasted command’s secret']}' ${api()}`
  await call('POST', '/v1/http/import-curl', { body: { command }, shows: true })
  await call('POST', '/v1/http/import-curl', { body: { command: `${command} --no-such-option` }, shows: true })
}

async function watch(projectId: string): Promise<void> {
  const channels = [
    { type: 'webhook', url: `${api()}?token=${secrets['a secret of a webhook']}` },
    { type: 'slack', url: api(`/hooks/${secrets['a secret of a Slack address']}`) },
    { type: 'email', to: 'a@example.org' },
  ]
  const body = { name: 'busy', type: 'requests_above', threshold: 1, channels }
  const alert = await made(`/v1/projects/${projectId}/alerts`, body, true)
  secrets['a secret that signs'] = alert['channels'][0].secret
  const path = `/v1/projects/${projectId}/alerts/${alert['id']}`
  await call('POST', `${path}/test`, { body: {} })
  await expect
    .poll(async () => (await call('GET', `${path}/deliveries`)).body['data'].length, { timeout: 20_000 })
    .toBeGreaterThan(0)
  const rotated = await made(`${path}/channels/${alert['channels'][0].id}/rotate`, {}, true)
  secrets['a rotated secret that signs'] = String(
    rotated['secret'] ?? JSON.stringify(rotated).match(/whsec_[^"]+/)?.[0],
  )
  for (const page of ['', '/deliveries', '/history']) await call('GET', path + page)
  const channel = { type: 'webhook', url: `${api()}?token=${secrets['a secret of a shared channel']}` }
  const shared = await made(`/v1/projects/${projectId}/alert-channels`, { name: 'On call', channel }, true)
  secrets['a secret of a shared channel that signs'] = String(shared['secret'])
  await call('POST', `/v1/projects/${projectId}/alert-channels/${shared['id']}/test`, { body: {} })
}

/** Everything that can be read, as who may read the most. */
async function readAll(projectId: string): Promise<void> {
  const project = `/v1/projects/${projectId}`
  const pages = ['', '/members', '/invitations', '/datasources', '/data-objects', '/jobs', '/metrics', '/requests']
  const more = ['/variables', '/alerts', '/queries', '/deployments', '/questions', '/evaluations', '/definition']
  const running = ['/alert-channels', '/timeline', '/views', '/metrics/queries']
  const releases = ['/openapi.json', '/releases', '/replays', '/replay-settings', '/counter-examples']
  for (const page of [...pages, ...more, ...running, ...releases]) await call('GET', `${project}${page}`)
  for (const page of [
    '/v1/audit',
    '/v1/audit/export',
    '/v1/limits',
    '/v1/api-keys',
    '/v1/management-tokens',
    '/readyz',
    '/v1/openapi.json',
  ])
    await call('GET', page)
  const { body } = await call('GET', `${project}/data-objects?limit=100`)
  for (const { id } of body['data'] as Array<{ id: string }>) {
    for (const part of ['', '/lineage', '/rows', '/download']) await call('GET', `${project}/data-objects/${id}${part}`)
  }
}

test('a secret stands nowhere but in the one answer that shows it', { timeout: 480_000 }, async () => {
  const { id: projectId } = await made('/v1/projects', { name: canary })
  await connect(projectId)
  await made(`/v1/projects/${projectId}/queries`, { name: canary, sql: 'SELECT count(*) AS n FROM bearer' })
  await made(`/v1/projects/${projectId}/queries/${canary}/deploy`, { environment: 'production', force: true })
  const person = await actAsPeople(projectId)
  await grant(projectId, person)
  await letClientIn(projectId, person)
  await record(projectId)
  await useCredentials(projectId)
  await send(projectId)
  await watch(projectId)
  await readAll(projectId)
  const metrics = await fetch(`${service.url}/metrics`)
  const seen: Place[] = [
    { name: 'the metrics', content: Buffer.from(await metrics.text()) },
    ...(await processesOf(service.pid, installationTree(service.pid, dataDir))),
    ...(await dumpOf(dataDir)),
  ]
  await endService(service)
  log += service.output()
  service = await start()
  await readAll(projectId)
  await endService(service)
  log += service.output()
  // The line that lets the first person in is printed to be used.
  const written = log.split('\n').filter((line) => line.startsWith('{'))
  const tree = await filesOf(dataDir)
  const groups: Record<string, Place[]> = {
    answers,
    log: [{ name: 'the log', content: Buffer.from(written.join('\n')) }],
    traces: [{ name: 'the traces', content: Buffer.concat(traces) }],
    folder: tree,
    rest: seen,
  }
  expect(metrics.status).toBe(200)
  // The search sees: what is no secret is found in every kind of place, but for the metrics, whose labels name nothing.
  for (const [name, places] of Object.entries(groups)) expect(finds({ canary }, places), name).not.toEqual([])
  process.stdout.write(
    `${Object.keys(secrets).length} secrets; searched ${answers.length} answers, ${written.length} lines of log, ` +
      `${traces.length} pieces of traces, ${tree.length} files, ${seen.length} tables, processes and metrics\n`,
  )
  expect(finds(secrets, Object.values(groups).flat())).toEqual([])
})

test('a secret is found however it is written', () => {
  const secret = 'planted/secret+1'
  const written = [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    ...['', 'u', 'us', 'usr:'].map((before) => Buffer.from(`${before}${secret} and more`).toString('base64')),
  ]
  const places = written.map((text, at) => ({ name: String(at), content: Buffer.from(`before ${text} after`) }))
  expect(finds({ it: secret }, places)).toHaveLength(written.length)
  expect(finds({ it: secret }, [{ name: 'x', content: Buffer.from('planted/secret 1') }])).toEqual([])
})
