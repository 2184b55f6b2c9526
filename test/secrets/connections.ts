import { expect } from 'vitest'
import type { Stage } from './stage.ts'

/** One of each way in which a secret of an external API can be configured. */
function configurations({ secrets, api }: Stage): Record<string, Record<string, unknown>> {
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
    shared: { api: 'shared', url: '/rows', method: 'GET' },
    hmac: {
      ...get,
      authType: 'HMAC',
      auth: { secret: secrets['a secret of an HMAC'], template: '{path}', header: 'X-S' },
    },
    digest: { ...get, authType: 'Digest Auth', auth: { username: 'u', password: secrets['a password of digest'] } },
    aws: {
      ...get,
      authType: 'AWS Signature',
      auth: { access_key_id: 'A', secret_access_key: secrets['a secret key of AWS'], region: 'r', service: 's' },
    },
    raw_body: { ...post, body: { type: 'raw', content: secrets['a raw body'], content_type: 'text/plain' } },
  }
}

export async function connect(stage: Stage, projectId: string): Promise<void> {
  const { secrets, origin, call, made } = stage
  const tell = (to: string, body: unknown) => call('POST', to, { body })
  const path = `/v1/projects/${projectId}/datasources`
  const value = secrets['a secret of the project']
  const origins = [origin]
  const named = await made(`/v1/projects/${projectId}/variables`, { name: 'named', value, secret: true, origins })
  const shared = {
    url: origin,
    headers: { 'X-Tenant': { value: secrets['a header of an API'], secret: true } },
    authType: 'Bearer Token',
    auth: { token: secrets['a token of an API'] },
  }
  const { id: apiId } = await made(`/v1/projects/${projectId}/apis`, { name: 'shared', config: shared })
  await call('GET', `/v1/projects/${projectId}/apis/${String(apiId)}`)
  for (const [name, config] of Object.entries(configurations(stage))) {
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

/** A connection that a person connects by OAuth2, that renews its tokens, and whose server refuses in the end. */
export async function grant(
  { secrets, api, call, made, endGrant }: Stage,
  projectId: string,
  person: Record<string, string>,
): Promise<void> {
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
  endGrant()
  expect((await test())['error']).toMatchObject({ code: 'token_refused' })
  const { id: jobId } = await made(`${path}/${id}/refresh`, {})
  await expect
    .poll(async () => (await call('GET', `/v1/jobs/${jobId}`)).body['status'], { timeout: 30_000 })
    .toBe('failed')
  for (const page of ['', '/authorization']) await call('GET', `${path}/${id}${page}`)
}

export async function send({ secrets, api, call }: Stage, projectId: string): Promise<void> {
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
