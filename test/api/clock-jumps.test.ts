import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

/** Clocks are set: by hand, by a server of time after a long sleep, or back when a machine is moved. */
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const jumps = [-hourMs, dayMs, -dayMs, 40 * dayMs, -41 * dayMs]

let t: TestApp
let q: QueryProject
beforeEach(async () => {
  t = await openTestApp()
  q = await openQueryProject(t, { plan: 'pro' })
  await q.deploy({ name: 'kept', sql: 'SELECT count(*) AS n FROM orders', cache_seconds: 60 })
  await q.deploy({ name: 'run', sql: 'SELECT count(*) AS n FROM orders' })
})
afterEach(() => t.close())

const call = async (name: string) => (await q.caller.post(`/v1/queries/${name}`, {})).status
const cacheOf = async () => (await q.caller.post('/v1/queries/kept', {})).headers['x-cache']

test('calls, changes and sign-ins go on whichever way the clock jumps', async () => {
  const owner = await t.member(q.projectId, 'owner')
  for (const jump of jumps) {
    t.advance(jump)
    const { email, password } = owner
    expect(await call('kept'), `kept after ${jump}`).toBe(200)
    expect(await call('run'), `run after ${jump}`).toBe(200)
    expect((await t.browser().post('/v1/session', { email, password })).status, `sign in after ${jump}`).toBe(201)
    expect((await t.operator.post('/v1/projects', { name: `after ${jump}` })).status).toBe(201)
    await q.deploy({ name: 'run', sql: `SELECT count(*) AS n, ${jump} AS jump FROM orders` })
    expect((await q.caller.post('/v1/queries/run', {})).body.data).toEqual([{ n: 30, jump }])
  }
})

test('a limit that was reached is no longer reached a minute later, though the clock was set back a day', async () => {
  // Together: one after the other a slow machine would never reach the limit of a minute.
  const statuses = await Promise.all(Array.from({ length: 200 }, () => call('run')))
  expect([...new Set(statuses)].sort()).toEqual([200, 429])
  t.advance(-dayMs)
  await call('run')
  t.advance(61_000)
  expect(await call('run')).toBe(200)
})

test('an answer is kept for as long as its query says, though the clock was set back', async () => {
  await call('kept')
  expect(await cacheOf()).toBe('hit')
  t.advance(-dayMs)
  t.advance(61_000)
  expect(await cacheOf()).not.toBe('hit')
})

test('a key that has run out stays so after its end, and the end is the clock’s', async () => {
  const expires = new Date(Date.now() + hourMs).toISOString()
  const permissions = [{ project_id: q.projectId, environments: '*' }]
  const made = await t.operator.post('/v1/api-keys', { name: 'short', permissions, expires_at: expires })
  const status = async () => (await t.withToken(made.body.secret).post('/v1/queries/run', {})).status
  expect(await status()).toBe(200)
  t.advance(2 * hourMs)
  expect(await status()).toBe(401)
  t.advance(-2 * hourMs)
  expect([200, 401]).toContain(await status())
})
