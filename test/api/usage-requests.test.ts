import { once } from 'node:events'
import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemCaller } from '../../server/access/index.ts'
import type { Observation } from '../../server/observe.ts'
import { holdWordKeepers } from '../../server/questions/index.ts'
import { keepUsage, openUsage, tailRequests } from '../../server/usage/index.ts'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/requests`
  await q.deploy({ name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' })
  for (const id of [1, 2, 3, 4]) await expectStatus(200, q.caller.post('/v1/queries/one', { id }))
  await expectStatus(400, q.caller.post('/v1/queries/one', {}))
  await expectStatus(404, q.caller.post('/v1/queries/never', {}))
  await expectStatus(200, t.operator.post(`${q.path}/one/preview`, { parameters: { id: 1 } }))
})
afterAll(() => t.close())

describe('GET /v1/projects/{project_id}/requests/{request_id}', () => {
  test('200 tells one call with who called, and 404 for what the log does not have', async () => {
    const calls = await expectStatus(200, t.operator.get(`${path}?entry=direct&status=200&limit=1`))
    const id = String(calls.body.data[0].id)
    const { body } = await expectStatus(200, t.operator.get(`${path}/${id}`))
    expect(body).toMatchObject({ id, query: 'one', status: 200, rows: 1, key_name: expect.any(String), asked: null })
    for (const unknown of ['req_1', 'req_01M7JPS9S4JPDJSZ741TGWDD2K', `${id}x`, 'events2', id.toLowerCase()]) {
      await expectStatus(404, t.operator.get(`${path}/${unknown}`))
    }
    const elsewhere = await t.project('Elsewhere')
    await expectStatus(404, t.operator.get(`/v1/projects/${elsewhere}/requests/${id}`))
  })
})

function answered(more: Partial<Extract<Observation, { kind: 'query-answered' }>> = {}): Observation {
  return {
    kind: 'query-answered',
    requestId: 'req_1',
    entry: 'direct',
    projectId: q.projectId,
    environment: 'production',
    query: 'one',
    version: 1,
    keyId: 'key_1',
    code: null,
    reason: null,
    totalMs: 1,
    queueMs: 0.5,
    sqlMs: 0.5,
    rows: 1,
    bytes: 10,
    cache: null,
    ...more,
  }
}

describe('200', () => {
  test('every call is there once, newest first, under the id of its answer', async () => {
    const answer = await q.caller.post('/v1/queries/one', { id: 5 })
    const { body } = await t.operator.get(path)
    expect(body.data).toHaveLength(8)
    expect(body.data[0]).toMatchObject({
      id: answer.headers['x-request-id'],
      query: 'one',
      version: 1,
      environment: 'production',
      entry: 'direct',
      status: 200,
      error: null,
      rows: 1,
      cache: null,
      question: null,
    })
    expect(body.data[0].total_ms).toBeGreaterThan(0)
    expect(body.data.map((each: { entry: string }) => each.entry)).toContain('preview')
  })

  test('pages follow one another without a gap', async () => {
    const ids: string[] = []
    let cursor = ''
    do {
      const page = (await expectStatus(200, t.operator.get(`${path}?limit=3${cursor}`))).body
      ids.push(...page.data.map((each: { id: string }) => each.id))
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
    } while (cursor !== '')
    const all = (await t.operator.get(path)).body.data.map((each: { id: string }) => each.id)
    expect(ids).toEqual(all)
  })

  test.each([
    ['outcome=failed', 2],
    ['outcome=answered&entry=direct', 5],
    ['status=404', 1],
    ['error=invalid_query', 1],
    ['entry=preview', 1],
    ['query=one&environment=production', 6],
    ['key_id=key_none', 0],
    ['to=2020-01-01T00:00:00Z', 0],
  ])('filtered by %s', async (query, count) => {
    expect((await t.operator.get(`${path}?${query}`)).body.data).toHaveLength(count)
  })

  test('the tail tells of calls as they come', async () => {
    const address = await t.listen()
    const request = get(`${address}${path}/events?outcome=failed`, {
      headers: { authorization: `Bearer ${operatorToken}` },
    })
    const [response] = await once(request, 'response')
    let text = ''
    response.on('data', (piece: Buffer) => (text += piece.toString()))
    await q.caller.post('/v1/queries/one', { id: 1 })
    await q.caller.post('/v1/queries/one', {})
    await expect.poll(() => text, { timeout: 60_000 }).toContain('event: request')
    const events = text.match(/event: request\ndata: .*/g) ?? []
    expect(events).toHaveLength(1)
    expect(events[0]).toContain('"missing_slots"')
    request.destroy()
  })

  test.each([
    ['says where it leaves calls out', 201, [0]],
    ['tells of as many as it can at once without a word of others', 200, []],
  ])('the tail %s', async (_name, calls, expected) => {
    // Calls of other tests may be within its reach.
    t.advance(60_000)
    const [told, gaps]: [string[], number[]] = [[], []]
    const stop = await tailRequests(t.app, systemCaller, {
      projectId: q.projectId,
      onRequest: ({ id }) => told.push(id),
      onGap: () => gaps.push(told.length),
      onEnd: () => undefined,
    })
    for (let index = 0; index < calls; index += 1) {
      t.app.usage.observe(answered({ requestId: `req_tail${1000 + index}`, entry: 'direct' }))
    }
    await t.app.usage.flush()
    await expect.poll(() => told.length, { timeout: 60_000 }).toBe(200)
    stop()
    // Said before those that came after them.
    expect(gaps).toEqual(expected)
    expect(told.at(-1)).toBe(`req_tail${999 + calls}`)
  })

  test('questions are kept with how they were answered', async () => {
    t.app.usage.observe(
      answered({ entry: 'question', question: { text: 'How many orders?', confidence: 0.9 }, routeMs: 3 }),
    )
    t.app.usage.observe(
      answered({ entry: 'question', question: { text: 'how  many Orders?', confidence: 0.9 }, routeMs: 3 }),
    )
    const refused = { entry: 'question', version: null, query: null, code: 'unanswerable' } as const
    t.app.usage.observe(
      answered({ ...refused, reason: 'no_match', question: { text: 'What is love?', confidence: null } }),
    )
    const { questions } = (await t.operator.get(`/v1/projects/${q.projectId}/metrics`)).body
    expect(questions).toMatchObject({
      asked: 3,
      answered: 2,
      refused: 1,
      reasons: { no_match: 1 },
      top: [
        { count: 2, query: 'one' },
        { question: 'What is love?', count: 1, query: null },
      ],
      unanswered: [{ question: 'What is love?', count: 1, reason: 'no_match' }],
    })
  })
})

describe('refusals', () => {
  test.each(['limit=0', 'status=9', 'outcome=maybe', 'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'cursor=x'])(
    '400 %s',
    async (query) => expect((await t.operator.get(`${path}?${query}`)).status).toBe(400),
  )
})

describe('under load', () => {
  test('what cannot be written down is counted, and figures outlast the log of single calls', async () => {
    const events: Observation[] = []
    const usage = openUsage({
      store: t.app.store,
      holdWordKeepers,
      observe: (event) => void events.push(event),
      now: t.app.now,
      queueLength: 5,
      closeTimeoutMs: 5_000,
      flushMs: 600_000,
    })
    const before = (await t.operator.get(`/v1/projects/${q.projectId}/metrics?key_id=key_2`)).body.totals.requests
    for (let count = 0; count < 12; count += 1) usage.observe(answered({ keyId: 'key_2' }))
    expect(usage.dropped()).toBe(7)
    await usage.flush()
    expect(events).toContainEqual({ kind: 'records-dropped', where: 'usage', count: 7, reason: 'full' })
    expect((await t.operator.get(`${path}?key_id=key_2`)).body.data).toHaveLength(5)
    const { totals } = (await t.operator.get(`/v1/projects/${q.projectId}/metrics?key_id=key_2`)).body
    expect(totals.requests - before).toBe(12)
    await usage.close()
  })

  test('a database that is away loses nothing that fits, and counts nothing twice', async () => {
    let isAway = true
    const pool = new Proxy(t.app.store.pool, {
      get(target, name, receiver) {
        if (isAway && (name === 'query' || name === 'connect')) return () => Promise.reject(new Error('away'))
        const value: unknown = Reflect.get(target, name, receiver)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const usage = openUsage({
      store: { db: t.app.store.db, pool },
      holdWordKeepers,
      observe: () => {},
      now: t.app.now,
      queueLength: 10,
      closeTimeoutMs: 5_000,
      flushMs: 600_000,
    })
    for (let count = 0; count < 4; count += 1) usage.observe(answered({ keyId: 'key_3' }))
    await expect(usage.flush()).rejects.toThrow('away')
    usage.observe(answered({ keyId: 'key_3' }))
    isAway = false
    await usage.flush()
    await usage.flush()
    await usage.close()
    expect((await t.operator.get(`${path}?key_id=key_3`)).body.data).toHaveLength(5)
    const { totals } = (await t.operator.get(`/v1/projects/${q.projectId}/metrics?key_id=key_3`)).body
    expect(totals).toMatchObject({ requests: 5, rows: 5 })
  })

  test('names that callers make up are not written down as environments, nor projects that are none', async () => {
    const refused = { version: null, code: 'query_not_found', keyId: 'key_4' } as const
    t.app.usage.observe(answered({ ...refused, environment: 'made_up' }))
    t.app.usage.observe(answered({ ...refused, projectId: 'prj_none' }))
    const { body } = await t.operator.get(`/v1/projects/${q.projectId}/metrics?key_id=key_4`)
    expect(body).toMatchObject({ totals: { requests: 1 }, by_environment: [] })
    const rows = t.app.store.db.selectFrom('requestBatches').select('ids').where('projectId', '=', 'prj_none')
    expect(await rows.execute()).toEqual([])
  })
})

test('filtered pages follow one another without a gap, also once hours are made of minutes', async () => {
  const everyPage = async () => {
    const ids: string[] = []
    let cursor = ''
    do {
      const asked = `${path}?query=one&environment=production&limit=7${cursor}`
      const page = (await expectStatus(200, t.operator.get(asked))).body
      ids.push(...page.data.map((each: { id: string }) => each.id))
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
    } while (cursor !== '')
    return ids
  }
  const before = await everyPage()
  expect(before.length).toBeGreaterThan(5)
  const failed = (await t.operator.get(`${path}?outcome=failed`)).body.data
  t.advance(3 * 3_600_000)
  await keepUsage(t.app)
  expect(await everyPage()).toEqual(before)
  expect((await t.operator.get(`${path}?outcome=failed`)).body.data).toEqual(failed)
})

test('calls that are written together are told apart again, in the order they came, on pages of any size', async () => {
  const project = await openQueryProject(t)
  const { caller, projectId } = project
  await project.deploy({ name: 'busy', sql: 'SELECT count(*) AS orders FROM orders', cache_seconds: 60 })
  const answers = []
  for (let call = 0; call < 40; call += 1) {
    answers.push(await expectStatus(200, caller.post('/v1/queries/busy', {})))
    if (call % 8 === 3) answers.push(await expectStatus(400, caller.post('/v1/queries/busy', { strange: 1 })))
    t.advance(call % 3 === 0 ? 170 : 0)
  }
  const ids = answers.map(({ headers }) => headers['x-request-id'])
  await t.app.usage.flush()
  const batches = t.app.store.db.selectFrom('requestBatches').select('ids').where('projectId', '=', projectId)
  const written = (await batches.execute()).length
  expect(written).toBeGreaterThan(4)
  expect(written).toBeLessThan(ids.length / 2)
  for (const limit of [1, 7, 200]) {
    const seen: Array<{ id: string; at: string; cache: string | null; rows: number; status: number }> = []
    let cursor = ''
    do {
      const asked = `/v1/projects/${projectId}/requests?limit=${limit}${cursor}`
      const page = (await expectStatus(200, t.operator.get(asked))).body
      seen.push(...page.data)
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
    } while (cursor !== '')
    expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(seen.map(({ at }) => at)).toEqual(
      seen
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    )
    const kept = seen.filter(({ cache }) => cache === 'hit')
    expect(kept).toHaveLength(39)
    expect(kept.every(({ rows, status }) => rows === 1 && status === 200)).toBe(true)
  }
})
