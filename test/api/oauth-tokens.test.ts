import { beforeEach, describe, expect, test } from 'vitest'
import { openGrants, createTokenSource, type TokenSource } from '../../server/connections/index.ts'
import { expectStatus, type Person, type TestApp } from '../harness/app.ts'
import { configurationBy, usualManners, type AuthorizationServer } from '../harness/authorization-server.ts'
import { stageOauth } from './oauth-stage.ts'

const stage = stageOauth()
const { path, make, finish, goThere, connected, standing, tryOut, grants } = stage
let t: TestApp
let server: AuthorizationServer
let editor: Person
let projectId: string
beforeEach(() => void ({ t, server, editor, projectId } = stage.parts()))

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
    Object.assign(server.manners, usualManners)
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
