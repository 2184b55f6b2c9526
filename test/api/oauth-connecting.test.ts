import { beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type Person, type TestApp } from '../harness/app.ts'
import { configurationBy, type AuthorizationServer } from '../harness/authorization-server.ts'
import type { Source } from '../harness/source.ts'
import { returned, stageOauth } from './oauth-stage.ts'

const stage = stageOauth()
const { path, make, begin, finish, goThere, connected, standing, tryOut, grants } = stage
let t: TestApp
let server: AuthorizationServer
let elsewhere: Source
let editor: Person
let projectId: string
beforeEach(() => void ({ t, server, elsewhere, editor, projectId } = stage.parts()))

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

  test('one connection of an API connects all of them, and a change of its address none', async () => {
    const { url, method, ...auth } = configurationBy(server)
    const { origin, pathname } = new URL(url)
    const apis = path().replace('datasources', 'apis')
    const api = (await expectStatus(201, editor.post(apis, { name: 'shop', config: { url: origin, ...auth } }))).body
    const request = { api: 'shop', url: pathname, method }
    const [id, other] = [await connected(request), await make(request)]
    expect(await standing(other)).toMatchObject({ status: 'connected', connected_by: editor.email })
    expect(await tryOut(other)).toMatchObject({ success: true, data: [{ id: 1 }, { id: 2 }] })
    // It is the API's: it outlasts the connection, and goes with it.
    await expectStatus(204, editor.delete(`${path()}/${id}`))
    expect(await tryOut(other)).toMatchObject({ success: true })
    const elsewhereConfig = { url: `http://${elsewhere.host}`, ...auth }
    await expectStatus(200, editor.patch(`${apis}/${api.id}`, { config: elsewhereConfig }))
    expect(await standing(other)).toMatchObject({ status: 'outdated' })
    expect((await tryOut(other)).error).toMatchObject({ code: 'token_refused' })
    expect(elsewhere.requests).toEqual([])
    await expectStatus(204, editor.delete(`${path()}/${other}`))
    await expectStatus(204, editor.delete(`${apis}/${api.id}`))
    expect(await grants()).toEqual([])
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
