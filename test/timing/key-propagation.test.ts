import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'

/** Two processes on one database. Neither looks again by itself: what reaches the other was told to it. */
let here: TestApp
let there: TestApp
let projectId: string
beforeAll(async () => {
  here = await openTestApp({}, { bounds: { keyResyncMs: 600_000 } })
  there = await openTestApp(
    { SLUICE_DATABASE_URL: here.app.config.databaseUrl ?? '' },
    { bounds: { keyResyncMs: 600_000 } },
  )
  projectId = await here.project()
})
afterAll(async () => {
  await there.close()
  await here.close()
})

const secondMs = 1_000

async function makeKey(more: Record<string, unknown> = {}): Promise<{ id: string; secret: string }> {
  const permissions = [{ project_id: projectId, environments: '*' }]
  return (await here.operator.post('/v1/api-keys', { name: 'x', permissions, ...more })).body
}

/** What the other process says of a key: the refusal, or the plan where it is good. */
async function elsewhere(secret: string): Promise<string> {
  const { body } = await there.withToken(secret).get('/v1/key')
  return body.reason ?? body.error ?? body.plan
}

describe('every act reaches the other process within a second', () => {
  test('made, changed, disabled, enabled, rotated, revoked', async () => {
    const { id, secret } = await makeKey()
    const soon = async (of: string, state: string): Promise<void> => {
      await expect.poll(() => elsewhere(of), { timeout: secondMs, interval: 10 }).toBe(state)
    }
    await soon(secret, 'pro')
    await here.operator.patch(`/v1/api-keys/${id}`, { plan: 'scale' })
    await soon(secret, 'scale')
    await here.operator.post(`/v1/api-keys/${id}/disable`)
    await soon(secret, 'disabled')
    await here.operator.post(`/v1/api-keys/${id}/enable`)
    await soon(secret, 'scale')
    const rotated = (await here.operator.post(`/v1/api-keys/${id}/rotate`, { grace_seconds: 0 })).body.secret
    await soon(rotated, 'scale')
    expect(await elsewhere(secret)).toBe('expired')
    await here.operator.delete(`/v1/api-keys/${id}`)
    await soon(rotated, 'revoked')
  })

  test('a project that is deleted', async () => {
    const gone = await here.project()
    const { secret } = await makeKey({ permissions: [{ project_id: gone, environments: '*' }] })
    await expect.poll(() => elsewhere(secret), { timeout: secondMs }).toBe('pro')
    await here.operator.delete(`/v1/projects/${gone}`)
    await expect.poll(() => elsewhere(secret), { timeout: secondMs, interval: 10 }).toBe('permission_denied')
  })

  test('what changed while the connection was cut', async () => {
    const { id, secret } = await makeKey()
    await expect.poll(() => elsewhere(secret), { timeout: secondMs }).toBe('pro')
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and query ilike 'listen%'`.execute(
      here.app.store.db,
    )
    expect(rows.length).toBe(2)
    const cut = here.app.store.db.transaction().execute(async (transaction) => {
      await sql`update api_keys set revoked_at = now(), changed_at = clock_timestamp() where id = ${id}`.execute(
        transaction,
      )
      for (const { pid } of rows) await sql`select pg_terminate_backend(${pid})`.execute(transaction)
      // No notification: it is as if it had been sent into the gap.
    })
    await cut
    await expect.poll(() => elsewhere(secret), { timeout: secondMs, interval: 10 }).toBe('revoked')
    const next = await makeKey()
    await expect.poll(() => elsewhere(next.secret), { timeout: secondMs, interval: 10 }).toBe('pro')
  })
})

test('a notification that is lost on a good connection is made up for', async () => {
  const watchful = await openTestApp(
    {
      SLUICE_DATABASE_URL: here.app.config.databaseUrl ?? '',
    },
    { bounds: { keyResyncMs: 100 } },
  )
  const { id, secret } = await makeKey()
  const status = async () => (await watchful.withToken(secret).get('/v1/key')).status
  await expect.poll(status, { timeout: secondMs }).toBe(200)
  await sql`update api_keys set disabled_at = now(), changed_at = clock_timestamp() where id = ${id}`.execute(
    here.app.store.db,
  )
  await expect.poll(status, { timeout: secondMs, interval: 20 }).toBe(401)
  await watchful.close()
})

test("a restart gives nobody a new day: what is used of a day's quota is kept", async () => {
  const { secret } = await makeKey({ plan: 'unlimited', daily_quota: 3 })
  const sameDatabase = { SLUICE_DATABASE_URL: here.app.config.databaseUrl ?? '' }
  const left = async (app: TestApp) => (await app.withToken(secret).get('/v1/key')).headers['x-ratelimit-remaining']
  const before = await openTestApp(sameDatabase)
  expect([await left(before), await left(before)]).toEqual(['2', '1'])
  await before.close()
  const after = await openTestApp(sameDatabase)
  expect(await left(after)).toBe('0')
  expect((await after.withToken(secret).get('/v1/key')).status).toBe(429)
  await after.close()
})

test('keys revoked under load: no good answer here after the revocation returned, nor there a second later', async () => {
  const keys = await Promise.all(Array.from({ length: 24 }, () => makeKey({ plan: 'unlimited' })))
  for (const { secret } of keys) await expect.poll(() => elsewhere(secret), { timeout: secondMs }).toBe('unlimited')
  type Good = { keyId: string; place: 'here' | 'there'; askedAt: number }
  const good: Good[] = []
  const revokedAt = new Map<string, number>()
  const over = new AbortController()
  let asked = 0
  const load = async (place: Good['place'], app: TestApp, offset: number): Promise<void> => {
    for (let turn = offset; !over.signal.aborted && turn < 50_000; turn += 1) {
      const key = keys[turn % keys.length]
      if (key === undefined) continue
      const askedAt = performance.now()
      const { status } = await app.withToken(key.secret).get('/v1/key')
      asked += 1
      if (status === 200) good.push({ keyId: key.id, place, askedAt })
      // Injected calls need no socket: without a pause they would keep the sockets of the database from being read.
      await nextTurn()
    }
  }
  const callers = [0, 6, 12, 18].flatMap((offset) => [load('here', here, offset), load('there', there, offset)])
  for (const { id } of keys) {
    expect((await here.operator.delete(`/v1/api-keys/${id}`)).status).toBe(204)
    revokedAt.set(id, performance.now())
  }
  const last = performance.now()
  await expect.poll(() => performance.now() - last, { timeout: 5_000 }).toBeGreaterThan(1_200)
  over.abort()
  await Promise.all(callers)
  const late = (place: Good['place'], graceMs: number) =>
    good.filter((answer) => answer.place === place && answer.askedAt > (revokedAt.get(answer.keyId) ?? 0) + graceMs)
  expect(late('here', 0)).toEqual([])
  expect(late('there', secondMs)).toEqual([])
  // The race was run: calls were answered well before, and went on after.
  expect(good.length).toBeGreaterThan(50)
  expect(asked).toBeGreaterThan(good.length + 50)
})
