import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Answer, type Person, type TestApp } from '../harness/app.ts'

const back = 'http://127.0.0.1:40123/signed-in'
const program = 'sluice-cli'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const secondMs = 1_000
const dayMs = 86_400_000

let t: TestApp
let projectId: string
let owner: Person
beforeAll(async () => {
  t = await openTestApp({ SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '1000' })
  projectId = await t.project()
})
afterAll(() => t.close())
// Somebody who has just signed in: the clock moves far.
beforeEach(async () => {
  owner = await t.member(projectId, 'owner')
})

type Form = Pick<Answer, 'status' | 'body'>

async function form(path: string, values: Record<string, string>): Promise<Form> {
  const response = await t.http.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ client_id: program, ...values }).toString(),
  })
  return { status: response.statusCode, body: response.json() }
}

async function approve(more: Record<string, unknown> = {}, person = owner) {
  const verifier = randomBytes(32).toString('base64url')
  const approved = await person.post('/v1/oauth/sign-ins', {
    client_id: program,
    redirect_uri: back,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'mine',
    ...more,
  })
  const way = approved.status === 201 ? new URL(approved.body.redirect_to) : undefined
  return { approved, verifier, way, code: way?.searchParams.get('code') ?? '' }
}

const exchange = ({ code, verifier }: { code: string; verifier: string }, more = {}): Promise<Form> =>
  form('/oauth/token', {
    grant_type: 'authorization_code',
    redirect_uri: back,
    code,
    code_verifier: verifier,
    ...more,
  })
const begin = async (): Promise<Answer['body']> => {
  const begun = await form('/oauth/device_authorization', {})
  expect(begun.status).toBe(200)
  return begun.body
}
const ask = (deviceCode: string): Promise<Form> =>
  form('/oauth/token', { grant_type: deviceGrant, device_code: deviceCode })
const projectsOf = (token: string) => t.withToken(token).get('/v1/projects')

describe('a program with a browser', () => {
  test('gets a management token that does what the person chose, once', async () => {
    const approved = await approve({ role: 'viewer', project_id: projectId })
    expect(approved.way?.searchParams.get('state')).toBe('mine')
    const { status, body } = await exchange(approved)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { access_token: expect.stringMatching(/^slc_mgmt_/), token_type: 'Bearer', scope: 'manage' },
    })
    const program = t.withToken(body.access_token)
    expect((await expectStatus(200, program.get('/v1/projects'))).body.data).toHaveLength(1)
    expect((await program.post(`/v1/projects/${projectId}/environments`, { name: 'staging' })).status).toBe(403)
    const { body: tokens } = await owner.get('/v1/management-tokens')
    expect(tokens.data[0]).toMatchObject({ role: 'viewer', project_id: projectId, status: 'active' })
    expect(tokens.data[0].name).toContain('The command line')
    const { body: audit } = await owner.get(`/v1/audit?project_id=${projectId}`)
    const actions = audit.data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['oauth_client.approved', 'management_token.created']))
    // A code that comes twice was seen by somebody else.
    expect((await exchange(approved)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await projectsOf(body.access_token)).body).toMatchObject({ reason: 'revoked' })
  })

  test('must prove that the code is its own, in time', async () => {
    const wrong = [
      { code_verifier: randomBytes(32).toString('base64url') },
      { redirect_uri: 'http://127.0.0.1:40124/signed-in' },
      { client_id: 'cli_another' },
      { code: 'none' },
    ]
    for (const more of wrong)
      expect((await exchange(await approve(), more)).body.error, JSON.stringify(more)).toBe('invalid_grant')
    const late = await approve()
    t.advance(61 * secondMs)
    expect((await exchange(late)).body.error).toBe('invalid_grant')
  })

  test('is let in by somebody who is signed in, for what they may, and comes back to its own machine', async () => {
    expect((await approve({}, owner)).approved.status).toBe(201)
    expect((await approve({ redirect_uri: 'https://evil.example/signed-in' })).approved.status).toBe(400)
    expect((await approve({ resource: 'https://evil.example/mcp' })).approved.status).toBe(400)
    const viewer = await t.member(projectId, 'viewer')
    expect((await approve({ role: 'owner', project_id: projectId }, viewer)).approved.status).toBe(403)
    // In all projects it does no more than the person, whichever role was asked for.
    const { body } = await exchange(await approve({ role: 'owner' }, viewer))
    const program = t.withToken(body.access_token)
    expect((await program.post(`/v1/projects/${projectId}/environments`, { name: 'staging' })).status).toBe(403)
    // A token cannot let another program in.
    const asToken = { ...owner, post: program.post }
    expect((await approve({}, asToken)).approved.status).toBe(401)
  })

  test('gives its token back, and no other; it ends by itself after 30 days', async () => {
    const { body: given } = await exchange(await approve())
    const { body: own } = await owner.post('/v1/management-tokens', { name: 'CI', role: 'viewer' })
    for (const token of [given.access_token, own.secret]) await form('/oauth/revoke', { token })
    expect((await projectsOf(given.access_token)).body).toMatchObject({ reason: 'revoked' })
    await expectStatus(200, projectsOf(own.secret))
    const { body: other } = await exchange(await approve())
    await form('/oauth/revoke', { token: other.access_token, client_id: 'cli_another' })
    await expectStatus(200, projectsOf(other.access_token))
    t.advance(31 * dayMs)
    expect((await projectsOf(other.access_token)).body).toMatchObject({ reason: 'expired' })
  })
})

describe('a program without a browser', () => {
  const decide = (code: string, more: Record<string, unknown> = {}, person = owner) =>
    person.post('/v1/oauth/device', { user_code: code, allow: true, ...more })

  test('shows a short code, waits for its person, and gets a token once', async () => {
    const begun = await begin()
    expect(begun).toMatchObject({
      expires_in: 600,
      interval: 5,
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
    })
    expect(begun.verification_uri_complete).toBe(`${begun.verification_uri}?code=${begun.user_code}`)
    expect((await ask(begun.device_code)).body.error).toBe('authorization_pending')
    expect((await ask(begun.device_code)).body.error).toBe('slow_down')
    t.advance(5 * secondMs)
    expect((await ask(begun.device_code)).body.error).toBe('authorization_pending')
    const spelled = begun.user_code.toLowerCase().replace('-', ' ')
    const { body: shown } = await expectStatus(
      200,
      owner.get(`/v1/oauth/device?user_code=${encodeURIComponent(spelled)}`),
    )
    expect(shown).toMatchObject({ client_name: 'The command line', address: '127.0.0.1' })
    await expectStatus(204, decide(spelled, { role: 'viewer' }))
    const { body } = await ask(begun.device_code)
    await expectStatus(200, projectsOf(body.access_token))
    expect((await decide(begun.user_code)).status).toBe(400)
    expect((await ask(begun.device_code)).body.error).toBe('invalid_grant')
    expect((await projectsOf(body.access_token)).body).toMatchObject({ reason: 'revoked' })
  })

  test('is refused, or nobody comes', async () => {
    const refused = await begin()
    await expectStatus(204, decide(refused.user_code, { allow: false }))
    expect((await ask(refused.device_code)).body.error).toBe('access_denied')
    const late = await begin()
    t.advance(601 * secondMs)
    expect((await ask(late.device_code)).body.error).toBe('expired_token')
    expect((await decide(late.user_code)).status).toBe(400)
    expect((await ask('none')).body.error).toBe('invalid_grant')
    expect((await form('/oauth/device_authorization', { client_id: 'cli_none' })).status).toBe(400)
  })

  test('cannot have its code guessed, by one person or by all of them', async () => {
    const begun = await begin()
    const guesser = await t.member(projectId, 'viewer')
    const answers: number[] = []
    for (let n = 0; n < 40; n += 1) answers.push((await decide('BBBB-BBBB', {}, guesser)).status)
    expect(answers.at(0)).toBe(400)
    expect(answers.at(-1)).toBe(429)
    // Nor is somebody else kept from typing a good one.
    await expectStatus(204, decide(begun.user_code))
    expect((await guesser.get('/v1/oauth/device?user_code=BBBB-BBBB')).status).toBe(429)
  })

  test('asks for so many codes from one address and no more', async () => {
    const few = await openTestApp({ SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '3' })
    try {
      const answers: number[] = []
      for (let n = 0; n < 5; n += 1) {
        const { statusCode } = await few.http.inject({
          method: 'POST',
          url: '/oauth/device_authorization',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: `client_id=${program}`,
        })
        answers.push(statusCode)
      }
      expect(answers).toEqual([200, 200, 200, 429, 429])
    } finally {
      await few.close()
    }
  })
})

test('what nobody answered is forgotten, and what was given stays until its token ends', async () => {
  const { forgetOldSignIns } = await import('../../server/access/index.ts')
  const { body } = await exchange(await approve())
  await begin()
  t.advance(2 * 3_600_000)
  await forgetOldSignIns(t.app)
  const rows = await t.app.store.db
    .selectFrom('programSignIns')
    .select('tokenId')
    .where('expiresAt', '<', new Date(t.app.now()))
    .execute()
  expect(rows.every(({ tokenId }) => tokenId !== null)).toBe(true)
  await form('/oauth/revoke', { token: body.access_token })
  expect((await projectsOf(body.access_token)).body).toMatchObject({ reason: 'revoked' })
})
