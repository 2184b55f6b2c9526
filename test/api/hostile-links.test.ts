import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

/** Links for signing in and for a reference, and saved views: by others, twice, at once, too late, and elsewhere. */
let t: TestApp
let q: QueryProject
let origin: string
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  await q.deploy({ name: 'order_count', sql: 'SELECT count(*) AS orders FROM orders', description: 'Counts orders' })
  origin = await t.listen()
})
// Each test has the failed links of its own minute.
beforeEach(() => t.advance(60_000))
afterAll(() => t.close())

const tokenOf = (link: string): string => link.split('#')[1] ?? ''

describe('a sign-in link', () => {
  test('that twenty send at once signs one in', async () => {
    const token = tokenOf(await t.signInLink())
    const answers = await Promise.all(Array.from({ length: 20 }, () => t.browser().post('/v1/session/link', { token })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
    expect(answers.filter(({ headers }) => headers['set-cookie'] !== undefined)).toHaveLength(1)
  })

  test('is not used up by what mail programs, chats and proxies ask ahead, and is told to none of them', async () => {
    const link = await t.signInLink()
    const token = tokenOf(link)
    expect(link.split('#')[0]).not.toContain(token)
    for (const method of ['HEAD', 'GET', 'OPTIONS'] as const)
      for (const path of ['/sign-in', `/sign-in?token=${token}`, `/v1/session/link?token=${token}`])
        await (await fetch(origin + path, { method, redirect: 'manual' })).arrayBuffer()
    const page = await fetch(`${origin}/sign-in`)
    expect(page.headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin|strict-origin-when-cross-origin)$/)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect((await t.browser().post('/v1/session/link', { token })).status).toBe(201)
  })

  test('of somebody else does not sign in from a page of another site, nor keep the session that was there', async () => {
    const token = tokenOf(await t.signInLink())
    const victim = await t.member(q.projectId, 'viewer')
    const foreign = await victim.post('/v1/session/link', { token }, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    expect((await victim.get('/v1/session')).body.email).toBe(victim.email)
    // With a cookie that somebody planted, the session is another one than the cookie says.
    const planted = 'sluice_session=planted-by-somebody-else'
    const signed = await t.anonymous.post('/v1/session/link', { token }, { cookie: planted })
    expect(signed.status).toBe(201)
    expect(String(signed.headers['set-cookie'])).toMatch(/sluice_session=(?!planted)/)
    expect((await t.anonymous.get('/v1/session', undefined, { cookie: planted })).status).toBe(401)
  })

  test('is no credential anywhere else, and no other secret is a link', async () => {
    const token = tokenOf(await t.signInLink())
    for (const path of ['/v1/projects', '/v1/key', '/v1/session', '/v1/audit'])
      expect((await t.withToken(token).get(path)).status).toBe(401)
    const shared = await t.operator.put(`/v1/projects/${q.projectId}/shared-references/production`)
    const asked = ['', ' ', `${token} `, token.slice(0, -1), token.toUpperCase(), q.secret, tokenOf(shared.body.link)]
    for (const each of asked) {
      const answer = await t.browser().post('/v1/session/link', { token: each })
      expect([400, 401, 429]).toContain(answer.status)
      expect(answer.headers['set-cookie']).toBeUndefined()
      t.advance(60_000)
    }
    expect((await t.browser().post('/v1/session/link', { token })).status).toBe(201)
  })
})

describe('a reference by link', () => {
  const path = () => `/v1/projects/${q.projectId}/shared-references`

  test('that many renew at once leaves one that is good', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => t.operator.put(`${path()}/production`)))
    const tokens = made.filter(({ status }) => status === 200).map(({ body }) => tokenOf(body.link))
    const reads = []
    for (const token of tokens) reads.push((await t.anonymous.post('/v1/shared-references/read', { token })).status)
    expect(reads.filter((status) => status === 200)).toHaveLength(1)
  })

  test('shows no value of a row, no SQL and no other environment, and is read by nobody through a cache', async () => {
    const { body } = await expectStatus(200, t.operator.put(`${path()}/production`))
    const token = tokenOf(body.link)
    const read = await t.anonymous.post('/v1/shared-references/read', { token, environment: 'staging' })
    expect(read.status).toBe(400)
    for (const more of ['?environment=staging', '?project_id=prj_x']) {
      const answer = await t.anonymous.post(`/v1/shared-references/read${more}`, { token })
      expect(JSON.stringify(answer.body)).not.toMatch(/staging|SELECT/)
    }
    const page = await fetch(`${origin}/reference/${q.projectId}`, { headers: { cookie: 'x=y' } })
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect((await t.withToken(token).post('/v1/queries/order_count', {})).status).toBe(401)
  })
})

describe('a saved view', () => {
  const views = () => `/v1/projects/${q.projectId}/views`
  const view = { page: 'requests', name: 'Mine', filter: { key: 'key_1' } }

  test("of one person is there for nobody else, an owner's eyes and tokens included", async () => {
    const [one, other, owner] = [
      await t.member(q.projectId, 'viewer'),
      await t.member(q.projectId, 'editor'),
      await t.member(q.projectId, 'owner'),
    ]
    const { body } = await expectStatus(201, one.post(views(), view))
    for (const who of [other, owner, t.operator, await t.administrator()]) {
      expect(JSON.stringify((await who.get(views())).body)).not.toContain(body.id)
      expect((await who.patch(`${views()}/${body.id}`, { name: 'Theirs' })).status).toBe(404)
      expect((await who.delete(`${views()}/${body.id}`)).status).toBe(404)
    }
    const elsewhere = `/v1/projects/${await t.project()}/views/${body.id}`
    expect((await one.patch(elsewhere, { name: 'There' })).status).not.toBe(200)
    expect((await one.get(views())).body.data).toMatchObject([{ name: 'Mine' }])
    // Nobody shares, moves or takes over a view by saying so.
    for (const more of [{ shared: true }, { user_id: other.userId }, { project_id: 'prj_x' }])
      expect((await one.patch(`${views()}/${body.id}`, more)).status).toBe(400)
    expect((await one.post(views(), { ...view, name: 'Ours', shared: true })).status).toBe(403)
  })

  test('holds short texts under short names, whatever they say, and nothing else', async () => {
    const person = await t.member(q.projectId, 'viewer')
    for (const filter of [{ a: { b: 1 } }, { a: ['x'] }, { a: 'x'.repeat(100_000) }, [], 'x', null])
      expect((await person.post(views(), { ...view, filter })).status).toBe(400)
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 'x']))
    expect((await person.post(views(), { ...view, filter: many })).status).toBe(400)
    const sly = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, unknown>
    const made = await person.post(views(), { ...view, name: '<img src=x onerror=alert(1)>', filter: sly })
    expect([201, 400]).toContain(made.status)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    for (const page of ['../../x', 'javascript:alert(1)', 'https://evil.example', ''])
      expect((await person.post(views(), { ...view, page })).status).toBe(400)
  })

  test('of a person who left goes with them', async () => {
    const person = await t.member(q.projectId, 'viewer')
    const { body } = await expectStatus(201, person.post(views(), { ...view, name: 'Left behind' }))
    await expectStatus(204, t.operator.delete(`/v1/projects/${q.projectId}/members/${person.userId}`))
    expect((await person.get(views())).status).toBe(404)
    expect((await person.delete(`${views()}/${body.id}`)).status).toBe(404)
    expect(JSON.stringify((await t.operator.get(views())).body)).not.toContain('Left behind')
  })
})
