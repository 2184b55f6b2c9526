import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Answer, type Person, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

const back = 'https://assistant.example/back'
const minuteMs = 60_000

let t: TestApp
let q: QueryProject
let owner: Person
beforeAll(async () => {
  t = await openTestApp({ SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '1000' })
  q = await openQueryProject(t)
  owner = await t.member(q.projectId, 'owner')
  // A project keeps one.
  await t.member(q.projectId, 'owner')
  await q.deploy({ name: 'one', sql: 'SELECT 1 AS n' })
})
afterAll(() => t.close())

const register = async (more: Record<string, unknown> = {}): Promise<Answer> =>
  t.anonymous.post('/oauth/register', { client_name: 'Assistant', redirect_uris: [back], ...more })
const clientId = async (): Promise<string> => (await expectStatus(201, register())).body.client_id

function challenge(): { verifier: string; code_challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, code_challenge: createHash('sha256').update(verifier).digest('base64url') }
}

const form = async (path: string, values: Record<string, string>): Promise<Pick<Answer, 'status' | 'body'>> => {
  const response = await t.http.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(values).toString(),
  })
  return { status: response.statusCode, body: response.json() }
}

async function approve(client: string, more: Record<string, unknown> = {}, person = owner) {
  const { verifier, code_challenge } = challenge()
  const approved = await person.post('/v1/oauth/approvals', {
    client_id: client,
    redirect_uri: back,
    code_challenge,
    code_challenge_method: 'S256',
    project_id: q.projectId,
    environment: 'production',
    state: 'as it was',
    ...more,
  })
  const redirect = approved.status === 201 ? new URL(approved.body.redirect_to) : undefined
  return { approved, verifier, redirect, code: redirect?.searchParams.get('code') ?? '' }
}

const exchange = (client: string, { code, verifier }: { code: string; verifier: string }, more = {}) =>
  form('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: client,
    code,
    redirect_uri: back,
    code_verifier: verifier,
    ...more,
  })
const refresh = (client: string, token: string) =>
  form('/oauth/token', { grant_type: 'refresh_token', client_id: client, refresh_token: token })
async function letIn() {
  const client = await clientId()
  const { body } = await exchange(client, await approve(client))
  return { client, access: body.access_token as string, refreshToken: body.refresh_token as string }
}
const callOne = (token: string) => t.withToken(token).post('/v1/queries/one', {})

describe('a client that a person lets in', () => {
  test('gets access to what the person chose, as an API key that stands in the list, and the log says who', async () => {
    const client = await clientId()
    const given = await approve(client)
    expect(Object.fromEntries(given.redirect?.searchParams ?? [])).toMatchObject({
      state: 'as it was',
      iss: expect.any(String),
    })
    const { status, body } = await exchange(client, given)
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: 'queries' })
    await expectStatus(200, callOne(body.access_token))
    expect((await t.withToken(body.access_token).get('/v1/key')).body).toMatchObject({
      permissions: [{ project_id: q.projectId, environments: ['production'] }],
    })
    const { body: keys } = await owner.get('/v1/api-keys')
    expect(keys.data[0]).toMatchObject({ name: expect.stringContaining('Assistant'), expires_at: expect.any(String) })
    const { body: audit } = await owner.get(`/v1/audit?project_id=${q.projectId}`)
    const actions = audit.data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['oauth_client.approved', 'api_key.created']))
  })

  test('loses it after an hour, and gets it again with a refresh token that is good once', async () => {
    const { client, access, refreshToken } = await letIn()
    t.advance(61 * minuteMs)
    expect((await callOne(access)).body).toMatchObject({ error: 'authentication_failed', reason: 'expired' })
    const renewed = await refresh(client, refreshToken)
    expect(renewed.status).toBe(200)
    await expectStatus(200, callOne(renewed.body.access_token))
    t.advance(minuteMs)
    // Somebody else has it, too: all of it ends.
    expect((await refresh(client, refreshToken)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await callOne(renewed.body.access_token)).status).toBe(401)
    expect((await refresh(client, renewed.body.refresh_token)).status).toBe(400)
  })

  test('loses it whoever spends a token of the family again, however many came after', async () => {
    const { client, access, refreshToken } = await letIn()
    const second = await refresh(client, refreshToken)
    const third = await refresh(client, second.body.refresh_token)
    await expectStatus(200, callOne(third.body.access_token))
    expect((await refresh(client, refreshToken)).body).toMatchObject({ error: 'invalid_grant' })
    for (const token of [access, third.body.access_token]) expect((await callOne(token)).status).toBe(401)
    expect((await refresh(client, third.body.refresh_token)).status).toBe(400)
  })

  test('that lost an answer may ask again at once', async () => {
    const { client, refreshToken } = await letIn()
    await refresh(client, refreshToken)
    const again = await refresh(client, refreshToken)
    expect(again.status).toBe(200)
    await expectStatus(200, callOne(again.body.access_token))
  })

  test('gives access back, by either token', async () => {
    const spent = await letIn()
    const { body: renewed } = await refresh(spent.client, spent.refreshToken)
    expect((await form('/oauth/revoke', { token: spent.refreshToken, client_id: spent.client })).status).toBe(200)
    expect((await callOne(renewed.access_token)).body).toMatchObject({ reason: 'revoked' })
    for (const which of ['access', 'refreshToken'] as const) {
      const given = await letIn()
      expect((await form('/oauth/revoke', { token: given[which], client_id: given.client })).status).toBe(200)
      expect((await callOne(given.access)).body).toMatchObject({ reason: 'revoked' })
      expect((await refresh(given.client, given.refreshToken)).status).toBe(400)
    }
    const kept = await letIn()
    await form('/oauth/revoke', { token: kept.access, client_id: 'cli_another' })
    await expectStatus(200, callOne(kept.access))
  })

  test('ends with the role of the person, and has one key for each place', async () => {
    const client = await clientId()
    const { body: first } = await exchange(client, await approve(client))
    const { body: second } = await exchange(client, await approve(client))
    expect((await callOne(first.access_token)).status).toBe(401)
    await expectStatus(200, callOne(second.access_token))
    const member = `/v1/projects/${q.projectId}/members/${owner.userId}`
    await expectStatus(200, t.operator.patch(member, { role: 'viewer' }))
    expect((await callOne(second.access_token)).body).toMatchObject({ reason: 'revoked' })
    expect((await refresh(client, second.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await approve(client)).approved.status).toBe(403)
    await expectStatus(200, t.operator.patch(member, { role: 'owner' }))
  })

  test('ends with the membership of the person, and not with that of others', async () => {
    const { access } = await letIn()
    const leaver = await t.member(q.projectId, 'owner')
    const client = await clientId()
    const { body } = await exchange(client, await approve(client, {}, leaver))
    await expectStatus(200, callOne(body.access_token))
    await expectStatus(204, owner.delete(`/v1/projects/${q.projectId}/members/${leaver.userId}`))
    expect((await callOne(body.access_token)).body).toMatchObject({ reason: 'revoked' })
    expect((await refresh(client, body.refresh_token)).status).toBe(400)
    await expectStatus(200, callOne(access))
    const { body: audit } = await owner.get(`/v1/audit?project_id=${q.projectId}`)
    expect(audit.data.slice(0, 2).map(({ action }: { action: string }) => action)).toContain('api_key.revoked')
  })

  test('ends with a refresh that is refused', async () => {
    const { client, access, refreshToken } = await letIn()
    // As by hand in the database, which no verb sees.
    await t.app.store.db.deleteFrom('members').where('userId', '=', owner.userId).execute()
    expect((await refresh(client, refreshToken)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await callOne(access)).body).toMatchObject({ reason: 'revoked' })
    await t.app.store.db
      .insertInto('members')
      .values({ projectId: q.projectId, userId: owner.userId, role: 'owner' })
      .execute()
  })
})

describe('a code', () => {
  test('is good once, for a minute, for its client, its address and whoever holds the verifier', async () => {
    const client = await clientId()
    const other = await clientId()
    const used = await approve(client)
    const { body } = await exchange(client, used)
    expect((await exchange(client, used)).body).toMatchObject({ error: 'invalid_grant' })
    // It was seen twice: what it gave is taken back.
    expect((await callOne(body.access_token)).status).toBe(401)
    const wrong: Array<[string, Record<string, string>]> = [
      [other, {}],
      [client, { redirect_uri: `${back}/` }],
      [client, { code_verifier: challenge().verifier }],
      [client, { code_verifier: '' }],
    ]
    for (const [who, more] of wrong) {
      const { status, body: refused } = await exchange(who, await approve(client), more)
      expect([status, refused.error]).toEqual([400, 'invalid_grant'])
    }
    const late = await approve(client)
    t.advance(minuteMs + 1)
    expect((await exchange(client, late)).status).toBe(400)
    const elsewhere = await exchange(client, await approve(client), { resource: 'https://other.example/mcp' })
    expect(elsewhere.body.error).toBe('invalid_target')
  })

  test('is given to no address that was not registered, for no plain challenge and for no other server', async () => {
    const client = await clientId()
    for (const redirect_uri of [
      `${back}?x`,
      `${back}/..`,
      'https://assistant.example.evil/back',
      'javascript:alert(1)',
    ]) {
      expect((await approve(client, { redirect_uri })).approved.status).toBe(400)
    }
    expect((await approve(client, { code_challenge_method: 'plain' })).approved.status).toBe(400)
    expect((await approve(client, { resource: 'https://other.example/mcp' })).approved.status).toBe(400)
    expect((await approve('cli_none')).approved.status).toBe(404)
    const local = await register({ redirect_uris: ['http://127.0.0.1:1234/back'] })
    const moved = { redirect_uri: 'http://127.0.0.1:9999/back' }
    expect((await approve(local.body.client_id, moved)).approved.status).toBe(201)
    const named = { redirect_uri: 'http://localhost:9999/back' }
    expect((await approve(local.body.client_id, named)).approved.status).toBe(400)
    // A port that there is none of leads nowhere, and nothing is given.
    const none = await approve(local.body.client_id, { redirect_uri: 'http://127.0.0.1:99999/back' })
    expect(none.approved).toMatchObject({ status: 400, body: { details: [{ field: 'redirect_uri' }] } })
    const { count } = await t.app.store.db
      .selectFrom('oauthGrants')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('clientId', '=', local.body.client_id)
      .executeTakeFirstOrThrow()
    expect(count).toBe(1)
  })
})

describe('a registration', () => {
  test('takes addresses that lead back to a program and no others', async () => {
    const good = [back, 'http://localhost:8080/cb', 'cursor://anysphere.cursor-retrieval/oauth/cb']
    expect((await register({ redirect_uris: good })).status).toBe(201)
    const bad = ['javascript:alert(1)', 'data:text/html,x', 'http://example.org/back', `${back}#part`, 'nonsense']
    bad.push('https://:p@evil.example/', 'https://u:p@evil.example/', 'filesystem:https://evil.example/temporary/x')
    bad.push('feed:javascript:alert(1)', 'feed://evil.example/x', 'jar:https://evil.example/x!/', 'JAR://evil.example/')
    bad.push('ms-settings:privacy', 'ms-settings://privacy', 'search-ms:query=x', 'search-ms://x', 'mailto:a@b.example')
    bad.push('mailto://a@b.example', 'ms-word:ofe|u|https://evil.example/x', 'intent://scan/#Intent;end', 'tel://1')
    for (const uri of bad) {
      const { status, body } = await register({ redirect_uris: [uri] })
      expect([uri, status, body.error]).toEqual([uri, 400, 'invalid_client_metadata'])
    }
    expect((await register({ token_endpoint_auth_method: 'client_secret_basic' })).status).toBe(400)
  })

  test('is refused when too many come from one address', async () => {
    const few = await openTestApp({ SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '2' })
    const statuses = []
    for (let at = 0; at < 4; at += 1) {
      statuses.push((await few.anonymous.post('/oauth/register', { redirect_uris: [back] })).status)
    }
    await few.close()
    expect(statuses).toEqual([201, 201, 429, 429])
  })
})

test('the documents of discovery name each other', async () => {
  const { body: resource } = await expectStatus(200, t.anonymous.get('/.well-known/oauth-protected-resource/mcp'))
  const { body: server } = await expectStatus(200, t.anonymous.get('/.well-known/oauth-authorization-server'))
  expect(resource.authorization_servers).toEqual([server.issuer])
  expect(server.code_challenge_methods_supported).toEqual(['S256'])
  expect(new URL(server.token_endpoint).pathname).toBe('/oauth/token')
})

test('the documents of discovery say nothing of a host that somebody made up', async () => {
  const at = (host: string, url: string) => t.http.inject({ url, headers: { host } })
  for (const url of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server']) {
    const refused = await at('evil.example', url)
    expect([refused.statusCode, refused.headers['cache-control']]).toEqual([404, 'no-store'])
    expect(refused.body).not.toContain('evil')
    expect((await at('localhost:4400', url)).statusCode).toBe(200)
  }
  const named = await openTestApp({ SLUICE_PUBLIC_URL: 'https://sluice.example' })
  const { body } = await named.http.inject({
    url: '/.well-known/openid-configuration',
    headers: { host: 'evil.example' },
  })
  await named.close()
  expect(JSON.parse(body)).toMatchObject({ issuer: 'https://sluice.example' })
})

test('no token is stored as it is', async () => {
  const { access, refreshToken } = await letIn()
  const { rows } = await t.app.store.db
    .selectFrom('oauthGrants')
    .selectAll()
    .execute()
    .then((all) => ({ rows: JSON.stringify(all) }))
  expect(rows).not.toContain(access)
  expect(rows).not.toContain(refreshToken)
})
