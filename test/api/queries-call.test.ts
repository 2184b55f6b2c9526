import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
  await q.deploy({
    name: 'by_region',
    sql: 'SELECT id, region, amount FROM orders WHERE region = $region ORDER BY id LIMIT $count',
    slots: {
      type: 'object',
      properties: {
        region: { type: 'string', enum: ['north', 'south', 'east'] },
        count: { type: 'integer', default: 2 },
      },
      required: ['region'],
    },
  })
})
afterAll(() => t.close())

describe('200', () => {
  test('answers rows with the version, the time of the data and nothing cut', async () => {
    const answer = await q.caller.post('/v1/queries/by_region', { region: 'north' })
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-sluice-version': '1',
        'x-content-type-options': 'nosniff',
      },
      body: {
        data: [
          { id: 1, region: 'north', amount: 1.5 },
          { id: 4, region: 'north', amount: 6 },
        ],
        row_count: 2,
        truncated: false,
        version: 1,
        as_of: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    })
    expect(Number.isInteger(answer.body.execution_time_ms)).toBe(true)
    expect(answer.headers['x-cache']).toBeUndefined()
  })

  test('an empty body is a call without slots', async () => {
    await q.deploy({ name: 'all_of_them', sql: 'SELECT count(*) AS n FROM orders' })
    expect((await q.caller.post('/v1/queries/all_of_them')).body.data).toEqual([{ n: 30 }])
    expect((await q.caller.post('/v1/queries/all_of_them', {})).body.data).toEqual([{ n: 30 }])
  })

  test('a new deployment answers from the next call on; another environment keeps its own', async () => {
    await q.deploy({ name: 'moving', sql: 'SELECT 1 AS v' }, 'staging')
    await q.deploy({ name: 'moving', sql: 'SELECT 2 AS v' })
    expect((await q.caller.post('/v1/queries/moving')).body).toMatchObject({ data: [{ v: 2 }], version: 2 })
    const staging = await q.caller.post('/v1/queries/moving', {}, { 'x-sluice-environment': 'staging' })
    expect(staging.body).toMatchObject({ data: [{ v: 1 }], version: 1 })
  })

  test('X-Sluice-Version pins a version that was live there; 404 for one that never was; 400 for no number', async () => {
    await q.deploy({ name: 'pinned', sql: 'SELECT 1 AS v' })
    await q.deploy({ name: 'pinned', sql: 'SELECT 2 AS v' })
    await q.deploy({ name: 'pinned', sql: 'SELECT 3 AS v' }, 'staging')
    const pin = (version: string) => q.caller.post('/v1/queries/pinned', {}, { 'x-sluice-version': version })
    expect((await pin('1')).body).toMatchObject({ data: [{ v: 1 }], version: 1 })
    expect((await pin('2')).body).toMatchObject({ data: [{ v: 2 }], version: 2 })
    expect(await pin('3')).toMatchObject({ status: 404, body: { error: 'query_not_found' } })
    expect(await pin('x')).toMatchObject({ status: 400, body: { error: 'invalid_query', reason: 'invalid_field' } })
    const trips = async (): Promise<number> => {
      const before = t.app.store.roundTrips()
      await pin('1')
      return t.app.store.roundTrips() - before
    }
    await expect.poll(trips).toBe(0)
  })

  test('a result beyond its row limit is cut and says so', async () => {
    await q.deploy({ name: 'cut', sql: 'SELECT i FROM range(50000000) t(i)', max_rows: 3 })
    expect((await q.caller.post('/v1/queries/cut')).body).toMatchObject({ row_count: 3, truncated: true })
  })

  test('slot values are bound: what looks like SQL is text', async () => {
    await q.deploy({ name: 'echo', sql: 'SELECT $text AS text' })
    for (const text of ["'; DROP TABLE orders; --", '$1', '\\', '{{text}}', 'x'.repeat(8_192), '🦆']) {
      expect((await q.caller.post('/v1/queries/echo', { text })).body.data).toEqual([{ text }])
    }
  })

  test('values beyond 2^53, dates, times and arrays go in and come out whole', async () => {
    await q.deploy({
      name: 'values',
      sql: "SELECT $big AS big, $day AS day, $at AS at, $open AS open, $open < TIME '12:00' AS early, list_sum($many) AS total",
      slots: {
        type: 'object',
        properties: {
          big: { type: 'integer' },
          day: { type: 'string', format: 'date' },
          at: { type: 'string', format: 'date-time' },
          open: { type: 'string', format: 'time', title: 'opening hour' },
          many: { type: 'array', items: { type: 'integer' } },
        },
      },
    })
    const answer = await q.caller.post('/v1/queries/values', {
      big: '9223372036854775808',
      day: '2024-02-29',
      at: '2024-02-29T12:00:00+02:00',
      open: '08:30',
      many: Array.from({ length: 10_000 }, () => 1),
    })
    expect(answer.body.data).toEqual([
      {
        big: '9223372036854775808',
        day: '2024-02-29',
        at: '2024-02-29T10:00:00Z',
        open: '08:30:00',
        early: true,
        total: 10_000,
      },
    ])
    expect(await q.caller.post('/v1/queries/values', { open: '8:30 pm' })).toMatchObject({
      status: 400,
      body: {
        details: expect.arrayContaining([{ field: 'open', message: 'must be a time of day as HH:MM or HH:MM:SS' }]),
      },
    })
  })

  test('a slot compared with a column of times is drafted as a time of day, and previewed as one', async () => {
    const sql = "SELECT opens FROM (VALUES (TIME '08:00'), (TIME '10:30')) AS shop(opens) WHERE opens > $after::TIME"
    await q.deploy({ name: 'opening', sql })
    const draft = await t.operator.get(`/v1/projects/${q.projectId}/queries/opening`)
    expect(draft.body.slots.properties).toEqual({ after: { type: 'string', format: 'time' } })
    const preview = await t.operator.post(`/v1/projects/${q.projectId}/queries/opening/preview`, {
      parameters: { after: '09:15:00.5' },
    })
    expect(preview.body.data).toEqual([{ opens: '10:30:00' }])
  })
})

describe('refusals', () => {
  test('400 names every missing, unknown and mistyped slot at once', async () => {
    const answer = await q.caller.post('/v1/queries/by_region', { regoin: 'north', count: 'many' })
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_query',
        reason: 'missing_slots',
        details: [
          { field: 'region', message: 'is required' },
          { field: 'count', message: 'must be an integer' },
          { field: 'regoin', message: 'is not a slot of this query; perhaps you meant region' },
        ],
      },
    })
  })

  test.each<[string, string, string]>([
    ['no JSON', '{"region": ', 'malformed_json'],
    ['NaN', '{"region": NaN}', 'malformed_json'],
    ['an array', '[1]', 'invalid_field'],
    ['a number beyond all numbers', '{"region":"north","count":1e400}', 'invalid_slots'],
    ['2^63 as a number', '{"region":"north","count":9223372036854775808}', 'invalid_slots'],
    ['a NUL', '{"region":"a\\u0000b"}', 'invalid_slots'],
  ])('400 for %s', async (_name, payload, reason) => {
    const answer = await t.http.inject({
      method: 'POST',
      url: '/v1/queries/by_region',
      payload,
      headers: { 'content-type': 'application/json', authorization: await bearer() },
    })
    expect(answer.statusCode, answer.body).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_query', reason })
  })

  test('404 for a name that is not deployed, never was, or no longer is', async () => {
    await q.deploy({ name: 'gone', sql: 'SELECT 1 AS one' })
    expect((await q.caller.post('/v1/queries/gone')).status).toBe(200)
    await t.operator.post(`${q.path}/gone/undeploy`, {})
    for (const name of ['gone', 'never', 'DROP', 'a'.repeat(90)]) {
      expect(await q.caller.post(`/v1/queries/${name}`, {}), name).toMatchObject({
        status: 404,
        body: { error: 'query_not_found' },
      })
    }
  })

  test('405 for another method, 401 without a key, 403 beyond the key', async () => {
    expect((await q.caller.put('/v1/queries/by_region', {})).status).toBe(405)
    expect((await t.anonymous.post('/v1/queries/by_region', {})).status).toBe(401)
    const foreign = await q.caller.post('/v1/queries/by_region', {}, { 'x-sluice-project': await t.project() })
    expect(foreign.status).toBe(403)
  })

  test('a key that fixes a slot: its value counts, and sending one is refused', async () => {
    const made = await t.operator.post('/v1/api-keys', {
      name: 'north only',
      permissions: [{ project_id: q.projectId, environments: '*' }],
      fixed_parameters: { region: 'north' },
    })
    const caller = t.withToken(made.body.secret)
    expect((await caller.post('/v1/queries/by_region', { count: 1 })).body.data).toMatchObject([{ region: 'north' }])
    const refused = await caller.post('/v1/queries/by_region', { region: 'south' })
    expect(refused).toMatchObject({ status: 400, body: { reason: 'invalid_slots', details: [{ field: 'region' }] } })
  })

  test('504 for a query that never ends, at its own limit; 413 for a result that is too large', async () => {
    await q.deploy({
      name: 'endless',
      sql: 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -1',
      timeout_ms: 300,
    })
    expect(await q.caller.post('/v1/queries/endless')).toMatchObject({ status: 504, body: { error: 'query_timeout' } })
    await q.deploy({ name: 'large', sql: "SELECT repeat('x', 10000) AS x FROM range(100)", max_bytes: 10_000 })
    expect(await q.caller.post('/v1/queries/large')).toMatchObject({ status: 413, body: { error: 'result_too_large' } })
  })

  test('a cast of a slot that fails is the caller’s 400', async () => {
    await q.deploy({
      name: 'cast',
      sql: 'SELECT CAST($text AS INTEGER) AS n',
      slots: { type: 'object', properties: { text: { type: 'string' } } },
    })
    expect((await q.caller.post('/v1/queries/cast', { text: '12' })).body.data).toEqual([{ n: 12 }])
    expect(await q.caller.post('/v1/queries/cast', { text: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_query' },
    })
  })
})

test('a warm call sends nothing to the database', async () => {
  await q.caller.post('/v1/queries/by_region', { region: 'north' })
  /** Statements during a few calls. What is written in batches meanwhile is not theirs, so one quiet burst proves it. */
  const burst = async (): Promise<number> => {
    const before = t.app.store.roundTrips()
    for (let count = 0; count < 5; count += 1) {
      expect((await q.caller.post('/v1/queries/by_region', { region: 'south', count })).status).toBe(200)
    }
    return t.app.store.roundTrips() - before
  }
  await expect.poll(burst, { timeout: 60_000 }).toBe(0)
})

test('every call is told once, refusals included, without its values', async () => {
  t.observations.length = 0
  await q.caller.post('/v1/queries/by_region', { region: 'north' })
  await q.caller.post('/v1/queries/by_region', {})
  await q.caller.post('/v1/queries/never', {})
  await q.caller.post('/v1/queries/by_region', [])
  await t.anonymous.post('/v1/queries/by_region', {})
  const told = t.observations.filter((event) => event.kind === 'query-answered')
  expect(told).toMatchObject([
    {
      query: 'by_region',
      projectId: q.projectId,
      environment: 'production',
      version: 1,
      entry: 'direct',
      code: null,
      rows: 2,
    },
    { query: 'by_region', code: 'invalid_query', reason: 'missing_slots' },
    { query: 'never', code: 'query_not_found' },
    { query: 'by_region', code: 'invalid_query', reason: 'invalid_field' },
  ])
  expect(told[0]?.keyId).toMatch(/^key_/)
})

let secret: Promise<string> | undefined
function bearer(): Promise<string> {
  secret ??= t.operator
    .post('/v1/api-keys', {
      name: 'raw',
      plan: 'unlimited',
      permissions: [{ project_id: q.projectId, environments: '*' }],
    })
    .then((made) => `Bearer ${made.body.secret}`)
  return secret
}
