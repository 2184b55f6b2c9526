import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureFirstUser, makeSignInLink } from '../../server/access/index.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

const link = async (): Promise<string> => {
  const { userId } = await ensureFirstUser(t.app, { example: 'off' })
  return makeSignInLink(t.app, userId)
}

describe('one-time link', () => {
  test('201 signs the first user in, once', async () => {
    const token = await link()
    const browser = t.browser()
    const first = await browser.post('/v1/session/link', { token })
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({ administrator: true, email: null, has_password: false })
    expect((await browser.get('/v1/session')).body.id).toBe(first.body.id)
    const again = await t.browser().post('/v1/session/link', { token })
    expect(again).toMatchObject({ status: 401, body: { error: 'authentication_failed', reason: 'unknown' } })
  })

  test('401 after it has expired', async () => {
    const token = await link()
    t.advance(3_601_000)
    expect((await t.browser().post('/v1/session/link', { token })).status).toBe(401)
  })

  test('401 once a newer link was made', async () => {
    const older = await link()
    const newer = await link()
    expect((await t.browser().post('/v1/session/link', { token: older })).status).toBe(401)
    expect((await t.browser().post('/v1/session/link', { token: newer })).status).toBe(201)
  })

  test('an invitation is no sign-in link, and the reverse', async () => {
    const projectId = await t.project()
    const invitation = await t.operator.post(`/v1/projects/${projectId}/invitations`, { role: 'viewer' })
    const token = String(invitation.body.link).split('#')[1]
    expect((await t.browser().post('/v1/session/link', { token })).status).toBe(401)
    const person = { name: 'X', email: 'x@example.org', password: 'long-enough-password' }
    const wrong = await t.browser().post('/v1/invitations/accept', { token: await link(), ...person })
    expect(wrong.status).toBe(401)
  })
})

describe('e-mail and password', () => {
  test('201 with a cookie that scripts cannot read and other sites do not send', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const browser = t.browser()
    const signedIn = await browser.post('/v1/session', { email: person.email.toUpperCase(), password: person.password })
    expect(signedIn.status).toBe(201)
    expect(signedIn.headers['set-cookie']).toMatch(/^sluice_session=.+HttpOnly; SameSite=Lax/)
    expect((await browser.get('/v1/session')).body.email).toBe(person.email)
  })

  test('401 is the same for a wrong password and an unknown e-mail', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const wrong = await t.anonymous.post('/v1/session', { email: person.email, password: 'not the password' })
    const unknown = await t.anonymous.post('/v1/session', { email: 'nobody@example.org', password: 'not the password' })
    for (const answer of [wrong, unknown]) {
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="sluice"')
    }
    expect({ ...unknown.body, request_id: '' }).toEqual({ ...wrong.body, request_id: '' })
  })

  test('429 after ten failures from one address, and free again after the wait it names', async () => {
    const limited = await openTestApp()
    const attempt = () => limited.anonymous.post('/v1/session', { email: 'a@example.org', password: 'wrong password' })
    const statuses: number[] = []
    for (let count = 0; count < 10; count += 1) statuses.push((await attempt()).status)
    expect(new Set(statuses)).toEqual(new Set([401]))
    const refused = await attempt()
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded' } })
    expect(refused.headers['retry-after']).toBe(String(refused.body.retry_after))
    limited.advance(refused.body.retry_after * 1000)
    expect((await attempt()).status).toBe(401)
    await limited.close()
  })

  test('200 changes the password only against the present one', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const without = await person.patch('/v1/session/user', { password: 'another-password' })
    expect(without).toMatchObject({ status: 400, body: { details: [{ field: 'current_password' }] } })
    const changed = await person.patch('/v1/session/user', {
      password: 'another-password',
      current_password: person.password,
    })
    expect(changed.status).toBe(200)
    const old = await t.anonymous.post('/v1/session', { email: person.email, password: person.password })
    const fresh = await t.anonymous.post('/v1/session', { email: person.email, password: 'another-password' })
    expect([old.status, fresh.status]).toEqual([401, 201])
    const { body: audit } = await t.operator.get('/v1/audit?limit=50')
    expect(audit.data).toContainEqual(
      expect.objectContaining({ action: 'user.updated', target: person.userId, details: { changed: ['password'] } }),
    )
  })

  test('a new password ends every other session and every unused link, and not the one that set it', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const elsewhere = t.browser()
    await expectStatus(201, elsewhere.post('/v1/session', { email: person.email, password: person.password }))
    const stranger = await t.member(await t.project(), 'viewer')
    const link = await makeSignInLink(t.app, person.userId)
    await expectStatus(200, person.patch('/v1/session/user', { name: 'Same sessions' }))
    expect((await elsewhere.get('/v1/session')).status).toBe(200)
    const change = { password: 'another-password', current_password: person.password }
    await expectStatus(200, person.patch('/v1/session/user', change))
    expect((await elsewhere.get('/v1/session')).status).toBe(401)
    expect((await t.browser().post('/v1/session/link', { token: link })).status).toBe(401)
    expect([(await person.get('/v1/session')).status, (await stranger.get('/v1/session')).status]).toEqual([200, 200])
  })

  test('409 for an e-mail that another user has', async () => {
    const projectId = await t.project()
    const [first, second] = [await t.member(projectId, 'viewer'), await t.member(projectId, 'viewer')]
    const taken = await second.patch('/v1/session/user', { email: first.email, current_password: second.password })
    expect(taken).toMatchObject({ status: 409, body: { error: 'conflict', reason: 'name_taken' } })
  })
})

describe('sessions', () => {
  test('204 signs out: the cookie is taken back, and is worth nothing to whoever kept it', async () => {
    const { email, password } = await t.member(await t.project(), 'viewer')
    const signedIn = await t.anonymous.post('/v1/session', { email, password })
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';')
    expect((await t.anonymous.get('/v1/session', undefined, { cookie })).status).toBe(200)
    const out = await t.anonymous.delete('/v1/session', undefined, { cookie })
    expect([out.status, String(out.headers['set-cookie'])]).toEqual([204, expect.stringMatching(/^sluice_session=;/)])
    expect((await t.anonymous.get('/v1/session', undefined, { cookie })).status).toBe(401)
  })

  test('a session ends when it is not used for its lifetime, and lives on while it is', async () => {
    const aging = await openTestApp({ SLUICE_SESSION_SECONDS: '1000' })
    const projectId = await aging.project()
    const [idle, busy] = [await aging.member(projectId, 'viewer'), await aging.member(projectId, 'viewer')]
    aging.advance(600_000)
    await expectStatus(200, busy.get('/v1/session'))
    aging.advance(600_000)
    expect([(await idle.get('/v1/session')).status, (await busy.get('/v1/session')).status]).toEqual([401, 200])
    await aging.close()
  })

  test('403 for a state change that a page of another site caused', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const foreign = { origin: 'https://evil.example', host: 'localhost:80' }
    const answer = await person.patch('/v1/session/user', { name: 'Other' }, foreign)
    expect(answer).toMatchObject({ status: 403, body: { error: 'permission_denied', reason: 'foreign_origin' } })
    const signIn = await t.anonymous.post('/v1/session', { email: person.email, password: person.password }, foreign)
    expect(signIn.status).toBe(403)
    const own = { origin: 'http://localhost:80', host: 'localhost:80' }
    const fetched = { 'sec-fetch-site': 'cross-site' }
    expect((await person.patch('/v1/session/user', { name: 'Other' }, { ...own, origin: 'null' })).status).toBe(403)
    expect((await person.patch('/v1/session/user', { name: 'Other' }, fetched)).status).toBe(403)
    expect((await person.patch('/v1/session/user', { name: 'Mine' }, { origin: 'http://localhost:80' })).status).toBe(
      200,
    )
  })

  test('the secret of a session is not in the database', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const signedIn = await t.anonymous.post('/v1/session', { email: person.email, password: person.password })
    const id = /sluice_session=([^;]+)/.exec(String(signedIn.headers['set-cookie']))?.[1] ?? ''
    const rows = await t.app.store.db.selectFrom('sessions').selectAll().execute()
    expect(id.length).toBeGreaterThan(20)
    expect(rows.some((row) => row.idHash.includes(id))).toBe(false)
  })
})
