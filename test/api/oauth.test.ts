import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openGrants, createTokenSource, type TokenSource } from '../../server/connections/index.ts'
import { expectStatus, openTestApp, type Answer, type Person, type TestApp } from '../harness/app.ts'
import { configurationBy, openAuthorizationServer, type AuthorizationServer } from '../harness/authorization-server.ts'
import { openSource, type Source } from '../harness/source.ts'

let t: TestApp
let server: AuthorizationServer
let elsewhere: Source
let editor: Person
let projectId: string
beforeAll(async () => {
  ;[server, elsewhere] = await Promise.all([openAuthorizationServer(), openSource()])
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' })
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await Promise.all([server.close(), elsewhere.close()])
})
const usual = {
  expiresIn: 3600,
  rotates: true,
  givesRefreshTokens: true,
  takesClientBy: 'either',
  delayMs: 0,
  token: null,
}
beforeEach(async () => {
  projectId = await t.project()
  editor = await t.member(projectId, 'editor')
  Object.assign(server.manners, usual)
  for (const seen of [server.asked, server.apiAnswers, elsewhere.requests]) seen.length = 0
})

const path = () => `/v1/projects/${projectId}/datasources`
const make = async (config: Record<string, unknown> = configurationBy(server)): Promise<string> =>
  (await expectStatus(201, editor.post(path(), { name: 'Orders', kind: 'http_api', config }))).body.id
const begin = (id: string, person = editor) => person.post(`${path()}/${id}/authorization`)
/** What the browser comes back with, as its page hands it on. */
const returned = (back: URL) => ({
  server: back.pathname.split('/').at(-1) ?? '',
  state: back.searchParams.get('state') ?? '',
  code: back.searchParams.get('code') ?? '',
})
const finish = (body: Record<string, unknown>, person = editor) => person.post('/v1/oauth/return', body)
const goThere = async (id: string) =>
  returned(await server.agree((await expectStatus(201, begin(id))).body.authorization_url))
const connected = async (config?: Record<string, unknown>): Promise<string> => {
  const id = await make(config)
  await expectStatus(200, finish(await goThere(id)))
  return id
}
const standing = async (id: string) => (await expectStatus(200, editor.get(`${path()}/${id}/authorization`))).body
const tryOut = async (id: string): Promise<Answer['body']> => {
  const { config } = (await editor.get(`${path()}/${id}`)).body
  const body = { ...config, project_id: projectId, datasource_id: id }
  return (await expectStatus(200, editor.post('/v1/http/test-connection', body))).body
}
const grants = () =>
  t.app.store.db.selectFrom('upstreamGrants').selectAll().where('projectId', '=', projectId).execute()

describe('connecting by an authorization code', () => {
  test('a person agrees, and the connection calls in their name', async () => {
    const id = await make(
      configurationBy(server, { scope: 'read', audience: 'https://api.example', parameters: { prompt: 'consent' } }),
    )
    expect(await standing(id)).toMatchObject({ status: 'none', connected_at: null })
    expect((await tryOut(id)).error).toMatchObject({ code: 'token_refused' })
    const begun = (await expectStatus(201, begin(id))).body
    const sent = Object.fromEntries(new URL(begun.authorization_url).searchParams)
    expect(sent).toMatchObject({
      response_type: 'code',
      client_id: server.client.id,
      scope: 'read',
      audience: 'https://api.example',
      prompt: 'consent',
      code_challenge_method: 'S256',
      redirect_uri: begun.redirect_uri,
    })
    expect(sent['client_secret']).toBeUndefined()
    const done = await expectStatus(200, finish(returned(await server.agree(begun.authorization_url))))
    expect(done.body).toEqual({ project_id: projectId, datasource_id: id })
    expect(await standing(id)).toMatchObject({ status: 'connected', connected_by: editor.email, renews: true })
    expect(await tryOut(id)).toMatchObject({ success: true, data: [{ id: 1 }, { id: 2 }] })
    expect(server.asked).toHaveLength(1)
    expect(server.asked[0]).toMatchObject({
      grantType: 'authorization_code',
      clientBy: 'basic',
      parameters: { audience: 'https://api.example', prompt: 'consent' },
    })
  })

  test('the tokens are sealed, shown nowhere, and the act is in the audit', async () => {
    const id = await connected()
    await tryOut(id)
    const [grant] = await grants()
    expect(grant?.sealedTokens.toString('latin1')).not.toMatch(/access-|refresh-/)
    const owner = await t.member(projectId, 'owner')
    const audit = await expectStatus(200, owner.get(`/v1/audit?project_id=${projectId}`))
    expect(audit.body.data.map(({ action }: { action: string }) => action)).toContain('datasource.connected')
    const shown = [audit.body, await standing(id), (await editor.get(`${path()}/${id}`)).body, t.observations]
    expect(JSON.stringify(shown)).not.toMatch(/access-[0-9a-f]|refresh-[0-9a-f]|the-client-secret/)
  })

  test('disconnecting forgets the tokens', async () => {
    const id = await connected()
    await expectStatus(204, editor.delete(`${path()}/${id}/authorization`))
    expect(await grants()).toEqual([])
    expect((await tryOut(id)).error).toMatchObject({ code: 'token_refused' })
    await expectStatus(404, editor.delete(`${path()}/${id}/authorization`))
  })

  test('a refresh runs with it as a job, and a public client needs no secret', async () => {
    const { client_secret: _none, ...auth } = configurationBy(server).auth
    const id = await make({ ...configurationBy(server), auth })
    server.manners.token = (_request, response) => {
      server.asked.push({ grantType: 'seen', clientBy: 'nobody', parameters: {} })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"public-token"}')
    }
    await expectStatus(200, finish(await goThere(id)))
    expect(await standing(id)).toMatchObject({ status: 'connected', renews: false, expires_at: null })
  })
})

describe('what comes back is good once, for one session, at one page', () => {
  const unknown = { status: 400, body: { error: 'invalid_request', reason: 'unknown_state' } }

  test('400 for a state that was used already', async () => {
    const id = await make()
    const back = await goThere(id)
    await expectStatus(200, finish(back))
    expect(await finish(back)).toMatchObject(unknown)
    expect(server.asked).toHaveLength(1)
  })

  test('400 for the code of another person, and it is still good for them', async () => {
    const id = await make()
    const back = await goThere(id)
    const other = await t.member(projectId, 'editor')
    expect(await finish(back, other)).toMatchObject(unknown)
    expect(server.asked).toEqual([])
    await expectStatus(200, finish(back))
  })

  test('400 in another session of the same person', async () => {
    const id = await make()
    const back = await goThere(id)
    const laptop = t.browser()
    await expectStatus(201, laptop.post('/v1/session', { email: editor.email, password: editor.password }))
    expect(await laptop.post('/v1/oauth/return', back)).toMatchObject(unknown)
  })

  test('400 for a made-up state, one that is too late, and one of another authorization server', async () => {
    const id = await make()
    expect(await finish({ server: 'x', state: 'made-up', code: 'c' })).toMatchObject(unknown)
    const mixed = await goThere(id)
    expect(await finish({ ...mixed, server: 'another-server00' })).toMatchObject(unknown)
    const late = await goThere(id)
    t.advance(601_000)
    expect(await finish(late)).toMatchObject(unknown)
    expect(server.asked).toEqual([])
  })

  test('401 for a management token: nobody sits before a browser', async () => {
    const id = await make()
    expect(await t.operator.post(`${path()}/${id}/authorization`)).toMatchObject({ status: 401 })
    expect(await t.operator.post('/v1/oauth/return', await goThere(id))).toMatchObject({ status: 401 })
  })

  test('403 for who may no longer edit when they come back', async () => {
    const id = await make()
    const back = await goThere(id)
    await expectStatus(200, t.operator.patch(`/v1/projects/${projectId}/members/${editor.userId}`, { role: 'viewer' }))
    expect(await finish(back)).toMatchObject({ status: 403 })
    expect(server.asked).toEqual([])
  })

  test('409 where the token endpoint was changed meanwhile: the code goes nowhere', async () => {
    const id = await make()
    const back = await goThere(id)
    const moved = configurationBy(server, { token_url: elsewhere.url })
    await expectStatus(200, editor.patch(`${path()}/${id}`, { config: moved }))
    expect(await finish(back)).toMatchObject({ status: 409, body: { reason: 'changed_meanwhile' } })
    expect([server.asked, elsewhere.requests]).toEqual([[], []])
  })

  test('502 with the server’s own words where the person does not agree', async () => {
    const id = await make()
    const { server: page, state } = await goThere(id)
    const refused = await finish({ server: page, state, error: 'access_denied', error_description: 'Not today\u0000' })
    expect(refused).toMatchObject({ status: 502, body: { reason: 'token_refused' } })
    expect(refused.body.message).toContain('access_denied (Not today')
  })
})

describe('tokens are bound to the addresses they were granted for', () => {
  test('another API or token endpoint gets none of them', async () => {
    const id = await connected()
    const { auth } = configurationBy(server)
    await expectStatus(
      200,
      editor.patch(`${path()}/${id}`, { config: { ...configurationBy(server), url: elsewhere.url } }),
    )
    expect(await standing(id)).toMatchObject({ status: 'outdated' })
    expect((await tryOut(id)).error).toMatchObject({ code: 'token_refused' })
    const moved = { ...configurationBy(server), auth: { ...auth, token_url: elsewhere.url } }
    await expectStatus(200, editor.patch(`${path()}/${id}`, { config: moved }))
    t.advance(4_000_000)
    expect((await tryOut(id)).error).toMatchObject({ code: 'token_refused' })
    expect(elsewhere.requests).toEqual([])
    await expectStatus(200, editor.patch(`${path()}/${id}`, { config: configurationBy(server) }))
    expect(await tryOut(id)).toMatchObject({ success: true })
  })

  test('the stored client secret is not sent to another endpoint by three stars', async () => {
    const id = await make()
    const { config } = (await editor.get(`${path()}/${id}`)).body
    expect(config.auth).toMatchObject({ client_secret: '***', authorization_url: server.authorizationUrl })
    const moved = { ...config, auth: { ...config.auth, token_url: elsewhere.url } }
    expect(await editor.patch(`${path()}/${id}`, { config: moved })).toMatchObject({ status: 400 })
  })
})

describe('refresh tokens', () => {
  const renewals = () => server.asked.filter(({ grantType }) => grantType === 'refresh_token').length

  test('a token that has expired is renewed, each time with the newest refresh token', async () => {
    const id = await connected()
    for (const round of [1, 2, 3]) {
      t.advance(3_601_000)
      expect(await tryOut(id)).toMatchObject({ success: true })
      expect(renewals()).toBe(round)
    }
    expect(server.apiAnswers).toEqual([200, 200, 200])
  })

  test('a token that the API takes no longer is renewed at once, and once only', async () => {
    const id = await connected()
    server.endAccessTokens()
    expect(await tryOut(id)).toMatchObject({ success: true })
    expect(server.apiAnswers).toEqual([401, 200])
    server.manners.token = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"never-good"}')
    server.endAccessTokens()
    expect(await tryOut(id)).toMatchObject({ success: false, status: 401 })
    expect(server.apiAnswers).toEqual([401, 200, 401, 401])
  })

  test('a load that outlasts its token goes on with a new one', async () => {
    const id = await connected()
    await expectStatus(201, editor.post(`${path()}/${id}/refresh`))
    await expect.poll(async () => (await editor.get(`${path()}/${id}`)).body.status, { timeout: 15_000 }).toBe('ready')
    t.advance(3_601_000)
    await expectStatus(201, editor.post(`${path()}/${id}/refresh`))
    await expect.poll(renewals, { timeout: 15_000 }).toBe(1)
  })

  test('processes that need one at the same time share one renewal', async () => {
    const id = await connected()
    t.advance(3_601_000)
    server.manners.delayMs = 150
    const { store, vault, outbound, now } = t.app
    const sources: TokenSource[] = Array.from({ length: 5 }, () =>
      createTokenSource(outbound, now, openGrants({ store, vault, outbound, now })),
    )
    const configuration = configurationBy(server) as Parameters<TokenSource['token']>[0]
    const timing = { timeoutMs: 10_000, place: { projectId, datasourceId: id } }
    const tokens = await Promise.all(sources.map((source) => source.token(configuration, timing)))
    expect(new Set(tokens.map((answer) => (answer.ok ? answer.token : 'none'))).size).toBe(1)
    expect(renewals()).toBe(1)
  })

  test('one that was withdrawn says to connect again, in the test and on the connection', async () => {
    const id = await connected()
    t.advance(3_601_000)
    server.manners.token = (_request, response) =>
      void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    const { error } = await tryOut(id)
    expect(error.message).toContain('Connect again')
    expect(await standing(id)).toMatchObject({ status: 'refused' })
    Object.assign(server.manners, usual)
    await expectStatus(200, finish(await goThere(id)))
    expect(await standing(id)).toMatchObject({ status: 'connected', refusal: null })
  })

  test('without one, access ends with its token', async () => {
    server.manners.givesRefreshTokens = false
    const id = await connected()
    expect(await tryOut(id)).toMatchObject({ success: true })
    t.advance(3_601_000)
    expect((await tryOut(id)).error.message).toContain('gave no refresh token')
  })

  test('one that is given by hand is used, rotated and kept with its project', async () => {
    const given = await fetch(server.tokenUrl, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: server.client.id,
        client_secret: server.client.secret,
      }),
    })
    const { refresh_token: refreshToken } = (await given.json()) as { refresh_token: string }
    const config = configurationBy(server, { refresh_token: refreshToken })
    const body = { ...config, project_id: projectId }
    expect(await editor.post('/v1/http/test-connection', config)).toMatchObject({ status: 400 })
    expect((await expectStatus(200, editor.post('/v1/http/test-connection', body))).body).toMatchObject({
      success: true,
    })
    const id = await make(config)
    expect((await editor.get(`${path()}/${id}`)).body.config.auth.refresh_token).toBe('***')
    t.advance(3_601_000)
    expect(await tryOut(id)).toMatchObject({ success: true })
    expect(renewals()).toBe(2)
    const [grant] = await grants()
    expect(grant).toMatchObject({ datasourceId: null, generation: 1 })
  })
})

describe('client authentication', () => {
  test.each([
    [undefined, 'either', ['basic']],
    [undefined, 'body', ['basic', 'body']],
    ['body', 'body', ['body']],
    ['basic', 'basic', ['basic']],
  ] as const)('client_auth %s at a server that takes %s', async (clientAuth, takes, seen) => {
    server.manners.takesClientBy = takes
    const id = await connected(configurationBy(server, clientAuth === undefined ? {} : { client_auth: clientAuth }))
    expect(server.asked.map(({ clientBy }) => clientBy)).toEqual(seen)
    expect(await tryOut(id)).toMatchObject({ success: true })
  })

  test('a way that the author chose is not left', async () => {
    server.manners.takesClientBy = 'body'
    const id = await make(configurationBy(server, { client_auth: 'basic' }))
    expect(await finish(await goThere(id))).toMatchObject({ status: 502, body: { reason: 'token_refused' } })
    expect(server.asked).toHaveLength(1)
  })

  test('client credentials take audience and further parameters too, and renew a token that is refused', async () => {
    const { authorization_url: _none, ...auth } = configurationBy(server, {
      audience: 'a',
      parameters: { resource: 'r' },
    }).auth
    const config = { ...configurationBy(server), authType: 'OAuth2 Client Credentials', auth }
    const test = () => editor.post('/v1/http/test-connection', config)
    expect((await test()).body).toMatchObject({ success: true })
    expect(server.asked[0]?.parameters).toMatchObject({
      grant_type: 'client_credentials',
      audience: 'a',
      resource: 'r',
    })
    server.endAccessTokens()
    expect((await test()).body).toMatchObject({ success: true })
    expect(server.apiAnswers).toEqual([200, 401, 200])
  })

  test('400 for parameters that the protocol itself says', async () => {
    const config = configurationBy(server, { parameters: { redirect_uri: 'https://elsewhere.example' } })
    const refused = await editor.post('/v1/http/test-connection', { ...config, project_id: projectId })
    expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'auth.parameters' }] } })
  })
})

describe('a hostile authorization server', () => {
  const hostile: Array<[string, NonNullable<AuthorizationServer['manners']['token']>, string]> = [
    [
      'an endless body',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const timer = setInterval(() => response.write(Buffer.alloc(65_536, 0x20)), 1)
        response.on('close', () => clearInterval(timer))
      },
      'too_large',
    ],
    [
      'a token of 10 MB',
      (_request, response) => void response.end(JSON.stringify({ access_token: 'x'.repeat(10_000_000) })),
      'too_large',
    ],
    [
      'a redirect to another origin',
      (_request, response) => void response.writeHead(307, { location: elsewhere.url }).end(),
      'token_refused',
    ],
    [
      'a token with a line break',
      (_request, response) => void response.end(JSON.stringify({ access_token: 'a\r\nx-evil: 1' })),
      'token_refused',
    ],
    ['no JSON', (_request, response) => void response.end('<html>'), 'token_refused'],
    ['a list', (_request, response) => void response.end('[1]'), 'token_refused'],
    ['a body that breaks off', (request) => void request.socket.destroy(), 'connect_error'],
  ]
  test.each(hostile)('%s connects nothing and leaks nothing', async (_name, token, reason) => {
    const id = await make()
    const back = await goThere(id)
    server.manners.token = token
    const refused = await finish(back)
    expect(refused.status).toBe(502)
    expect([reason, 'too_many_redirects']).toContain(refused.body.reason)
    expect(JSON.stringify(refused.body)).not.toMatch(/code-[0-9a-f]|the-client-secret/)
    expect(await grants()).toEqual([])
    expect(elsewhere.requests).toEqual([])
  })

  test.each([-5, 'soon', 1e300, null, {}])('a life of %s is no reason to fail', async (life) => {
    const id = await make()
    const back = await goThere(id)
    server.manners.token = (_request, response) =>
      void response.end(JSON.stringify({ access_token: 'good', expires_in: life, refresh_token: 7 }))
    await expectStatus(200, finish(back))
    expect(await standing(id)).toMatchObject({ status: 'connected', renews: false })
  })

  test('repeats of the refresh token in its words are left out', async () => {
    const id = await connected()
    t.advance(3_601_000)
    server.manners.token = async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const sent = new URLSearchParams(Buffer.concat(pieces).toString()).get('refresh_token') ?? ''
      response.writeHead(400).end(JSON.stringify({ error: 'invalid_grant', error_description: `bad ${sent}` }))
    }
    const { error } = await tryOut(id)
    expect(error.message).toContain('bad ***')
    expect(JSON.stringify(await standing(id))).not.toMatch(/refresh-[0-9a-f]/)
  })

  test('attempts of one person are few, and old ones go', async () => {
    const id = await make()
    for (let count = 0; count < 25; count += 1) await expectStatus(201, begin(id))
    const { rows } = await t.app.store.pool.query(
      'select count(*)::int as n from upstream_attempts where user_id = $1',
      [editor.userId],
    )
    expect(rows[0].n).toBe(20)
  })
})
