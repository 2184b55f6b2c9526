import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/shared-references`
  await q.deploy({ name: 'order_count', sql: 'SELECT count(*) AS orders FROM orders', description: 'Counts orders' })
  await q.deploy({ name: 'in_staging', sql: 'SELECT 1 AS one' }, 'staging')
})
// Each test has the failed links of its own minute.
beforeEach(() => t.advance(60_000))
afterAll(() => t.close())

async function share(environment = 'production'): Promise<string> {
  const { body } = await expectStatus(200, t.operator.put(`${path}/${environment}`))
  return body.link
}

const tokenOf = (link: string): string => link.split('#')[1] ?? ''
const read = (link: string) => t.anonymous.post('/v1/shared-references/read', { token: tokenOf(link) })

test('an owner shares an environment, and whoever has the link reads what is deployed there and nothing else', async () => {
  const link = await share()
  expect(link).toMatch(new RegExp(`/reference/${q.projectId}\\?environment=production#slc_link_\\w{32}_\\w{6}$`))
  const { status, body, headers } = await read(link)
  expect(status).toBe(200)
  expect(headers['cache-control']).toBe('no-store')
  expect(Object.keys(body.paths)).toEqual(['/v1/queries/order_count'])
  const text = JSON.stringify(body)
  // What is behind it stays behind it.
  for (const hidden of ['SELECT', 'FROM orders', q.secret, tokenOf(link), 'in_staging'])
    expect(text).not.toContain(hidden)
  const listed = await t.operator.get(path)
  expect(listed.body.data).toEqual([{ environment: 'production', created_at: expect.any(String) }])
})

test('a new link ends the one before, and ending it ends it', async () => {
  const first = await share()
  const second = await share()
  expect((await read(first)).status).toBe(404)
  expect((await read(second)).status).toBe(200)
  await expectStatus(204, t.operator.delete(`${path}/production`))
  expect(await read(second)).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await t.operator.delete(`${path}/production`)).status).toBe(404)
  const acts = (await t.operator.get(`/v1/audit?project_id=${q.projectId}&limit=3`)).body.data
  expect(acts.map(({ action }: { action: string }) => action)).toEqual([
    'reference.unshared',
    'reference.shared',
    'reference.shared',
  ])
  expect(JSON.stringify(acts)).not.toContain('slc_link_')
})

test('the link ends with its environment', async () => {
  await expectStatus(201, t.operator.post(`/v1/projects/${q.projectId}/environments`, { name: 'preview' }))
  const link = await share('preview')
  expect((await read(link)).status).toBe(200)
  await expectStatus(204, t.operator.delete(`/v1/projects/${q.projectId}/environments/preview`))
  expect((await read(link)).status).toBe(404)
  expect((await t.operator.put(`${path}/preview`)).status).toBe(404)
})

test('the link opens nothing but the reference, and another link does not open it', async () => {
  const token = tokenOf(await share())
  expect(await t.withToken(token).post('/v1/queries/order_count', {})).toMatchObject({
    status: 401,
    body: { reason: 'wrong_kind' },
  })
  expect((await t.withToken(token).get('/v1/projects')).status).toBe(401)
  const answer = await t.withToken(token).get(`/v1/projects/${q.projectId}/openapi.json`)
  expect(answer.status).toBe(401)
  expect((await t.anonymous.post('/v1/session/link', { token })).status).not.toBe(200)
  const invited = await t.operator.post(`/v1/projects/${q.projectId}/invitations`, { role: 'viewer' })
  expect((await read(invited.body.link)).status).toBe(404)
  expect((await t.anonymous.post('/v1/invitations/read', { token })).status).toBe(401)
})

test('who guesses is told to wait', async () => {
  const statuses = new Set<number>()
  for (let guesses = 0; guesses < 30; guesses += 1) statuses.add((await read(`#slc_link_${guesses}`)).status)
  expect(statuses).toEqual(new Set([404, 429]))
  // A good one passes all the same.
  expect((await read(await share())).status).toBe(200)
})
