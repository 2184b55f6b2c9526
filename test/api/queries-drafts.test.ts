import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'

let t: TestApp
let projectId: string
let path: string
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  ;({ projectId, path } = await openQueryProject(t))
})
afterAll(() => t.close())

const byRegion = {
  name: 'orders_by_region',
  description: 'Orders of a region',
  sql: 'SELECT id, amount FROM orders WHERE region = $region ORDER BY id',
  slots: { type: 'object', properties: { region: { type: 'string' } }, required: ['region'] },
  examples: [{ question: 'orders in the north', parameters: { region: 'north' } }],
}

describe('drafts', () => {
  test('201 keeps what was written; 409 for a name that is taken', async () => {
    const made = await t.operator.post(path, byRegion)
    expect(made).toMatchObject({ status: 201, body: { ...byRegion, revision: 1, changed: true, deployments: [] } })
    expect(made.headers['etag']).toBe('"1"')
    expect(await t.operator.get(`${path}/orders_by_region`)).toMatchObject({ status: 200, body: made.body })
    expect(await t.operator.post(path, byRegion)).toMatchObject({ status: 409, body: { reason: 'name_taken' } })
  })

  test('201 without slots infers them from the SQL, optional where the SQL asks whether they are there', async () => {
    const sql = `SELECT id FROM orders WHERE ($region IS NULL OR region = $region) AND day >= $since AND id IN (SELECT unnest($ids::BIGINT[]))`
    const made = await t.operator.post(path, { name: 'inferred', sql })
    expect(made).toMatchObject({
      status: 201,
      body: {
        slots: {
          type: 'object',
          properties: {
            region: { type: 'string' },
            since: { type: 'string', format: 'date' },
            ids: { type: 'array', items: { type: 'integer' } },
          },
          required: ['since', 'ids'],
        },
      },
    })
  })

  test('200 edits only what is given; 409 when someone else edited meanwhile; 400 for another name', async () => {
    await t.operator.post(path, { name: 'edited', sql: 'SELECT 1 AS one' })
    const edited = await t.operator.put(`${path}/edited`, { sql: 'SELECT 2 AS two' }, { 'if-match': '"1"' })
    expect(edited).toMatchObject({ status: 200, body: { sql: 'SELECT 2 AS two', description: '', revision: 2 } })
    const late = await t.operator.put(`${path}/edited`, { sql: 'SELECT 3 AS three' }, { 'if-match': '"1"' })
    expect(late).toMatchObject({ status: 409, body: { error: 'conflict', reason: 'changed_meanwhile' } })
    expect((await t.operator.put(`${path}/edited`, { name: 'other' })).status).toBe(400)
    expect((await t.operator.put(`${path}/edited`, { name: 'edited' })).status).toBe(200)
    expect((await t.operator.put(`${path}/nothing`, { sql: 'SELECT 1' })).status).toBe(404)
  })

  test('200 lists by name in pages', async () => {
    const first = await t.operator.get(`${path}?limit=2`)
    const second = await t.operator.get(`${path}?limit=2&cursor=${first.body.next_cursor}`)
    const names = [...first.body.data, ...second.body.data].map((each: { name: string }) => each.name)
    expect(names).toEqual(['edited', 'inferred', 'orders_by_region'])
  })

  test('204 deletes; 404 then', async () => {
    await t.operator.post(path, { name: 'short_lived', sql: 'SELECT 1 AS one' })
    expect((await t.operator.delete(`${path}/short_lived`)).status).toBe(204)
    expect((await t.operator.get(`${path}/short_lived`)).status).toBe(404)
    expect((await t.operator.delete(`${path}/short_lived`)).status).toBe(404)
  })

  test('403: a viewer reads and changes nothing; 404 for someone who is no member', async () => {
    const viewer = await t.member(projectId, 'viewer')
    expect((await viewer.get(path)).status).toBe(200)
    expect((await viewer.get(`${path}/orders_by_region/versions`)).status).toBe(200)
    for (const refused of [
      await viewer.post(path, { name: 'mine', sql: 'SELECT 1' }),
      await viewer.put(`${path}/orders_by_region`, { description: 'mine' }),
      await viewer.delete(`${path}/orders_by_region`),
      await viewer.post(`${path}/orders_by_region/deploy`, {}),
      await viewer.post(`${path}/orders_by_region/preview`, {}),
      await viewer.post(`${path}/inspect`, { sql: 'SELECT 1' }),
    ]) {
      expect(refused).toMatchObject({ status: 403, body: { error: 'permission_denied', reason: 'role_too_small' } })
    }
    const outsider = await t.member(await t.project(), 'owner')
    expect((await outsider.get(path)).status).toBe(404)
  })
})

describe('400 at save', () => {
  test.each([
    ['several statements', 'SELECT 1; SELECT 2'],
    ['a write', 'DELETE FROM orders'],
    ['a file', "SELECT * FROM read_csv('/etc/passwd')"],
    ['a copy', "COPY orders TO '/tmp/x'"],
    ['a setting', 'PRAGMA database_list'],
    ['nothing', '   '],
  ])('%s is no query', async (_name, sql) => {
    const answer = await t.operator.post(path, { name: 'bad', sql })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request', reason: 'invalid_sql' } })
  })

  test('an unknown table or column is named with its line, column and word, and what was perhaps meant', async () => {
    const table = await t.operator.post(path, { name: 'bad', sql: 'SELECT id\nFROM oders' })
    expect(table.body).toMatchObject({ reason: 'invalid_sql', line: 2, column: 6, word: 'oders' })
    expect(table.body.message).toContain('perhaps you meant orders')
    const column = await t.operator.post(path, { name: 'bad', sql: 'SELECT amuont FROM orders' })
    expect(column.body).toMatchObject({ reason: 'invalid_sql', line: 1, column: 8, word: 'amuont' })
  })

  const sql = 'SELECT id FROM orders WHERE region = $region'
  const slot = (schema: object) => ({ type: 'object', properties: { region: schema } })
  test.each<[string, object, string, RegExp]>([
    ['an unknown keyword', slot({ type: 'string', minLength: 3 }), 'slots.properties.region.minLength', /not a known/],
    ['an unknown type', slot({ type: 'blob' }), 'slots.properties.region.type', /must have a type/],
    ['no type', slot({}), 'slots.properties.region.type', /must have a type/],
    [
      'a pattern with look-ahead',
      slot({ type: 'string', pattern: '(?=a)' }),
      'slots.properties.region.pattern',
      /linear/,
    ],
    ['a default of another type', slot({ type: 'integer', default: 'x' }), 'slots.properties.region.default', /./],
    [
      'a default out of the choices',
      slot({ type: 'string', enum: ['a'], default: 'b' }),
      'slots.properties.region.default',
      /one of a/,
    ],
    [
      'a choice that is no date',
      slot({ type: 'string', format: 'date', enum: ['x'] }),
      'slots.properties.region.enum',
      /date/,
    ],
    ['crossed bounds', slot({ type: 'integer', minimum: 5, maximum: 1 }), 'slots.properties.region.minimum', /above/],
    [
      'a source that is no column',
      slot({ type: 'string', 'x-values-from': 'orders.nope' }),
      'slots.properties.region.x-values-from',
      /no column/,
    ],
    [
      'a slot the SQL does not use',
      { type: 'object', properties: { region: { type: 'string' }, year: { type: 'integer' } } },
      'slots.properties.year',
      /not used/,
    ],
    ['a slot that is not declared', { type: 'object', properties: {} }, 'slots.properties.region', /missing/],
    ['a required slot that is none', { ...slot({ type: 'string' }), required: ['year'] }, 'slots.required', /year/],
  ])('slots: %s', async (_name, slots, field, message) => {
    const answer = await t.operator.post(path, { name: 'bad', sql, slots })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    const detail = answer.body.details.find((each: { field: string }) => each.field === field)
    expect(detail?.message, JSON.stringify(answer.body.details)).toMatch(message)
  })

  test('an example whose parameters the slots refuse', async () => {
    const examples = [{ question: 'how many', parameters: { regoin: 'north' } }]
    const answer = await t.operator.post(path, { ...byRegion, name: 'bad', examples })
    expect(answer.body.details).toEqual([
      { field: 'examples.0.parameters.regoin', message: 'is not a slot of this query; perhaps you meant region' },
    ])
  })
})

describe('inspect and preview', () => {
  test('200 tells tables, slots and columns without running', async () => {
    const answer = await t.operator.post(`${path}/inspect`, { sql: byRegion.sql })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        tables: { orders: expect.arrayContaining(['id', 'amount', 'region']) },
        slots: { properties: { region: { type: 'string' } }, required: ['region'] },
        columns: [
          { name: 'id', type: 'BIGINT' },
          { name: 'amount', type: 'DECIMAL(18,1)' },
        ],
      },
    })
  })

  test('200 runs the draft, or other SQL, with the rows of the engine', async () => {
    const preview = `${path}/orders_by_region/preview`
    const answer = await t.operator.post(preview, { parameters: { region: 'south' } })
    expect(answer).toMatchObject({ status: 200, body: { row_count: 10, truncated: false } })
    expect(answer.body.data[0]).toEqual({ id: 2, amount: 3 })
    const other = {
      parameters: { region: 'east', least: 40 },
      sql: byRegion.sql.replace('ORDER', 'AND amount > $least ORDER'),
    }
    expect((await t.operator.post(preview, other)).body).toMatchObject({ row_count: 2, data: [{ id: 27 }, { id: 30 }] })
  })

  test('400 for parameters that do not fit, and for SQL that is none', async () => {
    const preview = `${path}/orders_by_region/preview`
    expect(await t.operator.post(preview, { parameters: { region: 1, x: 2 } })).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        details: [
          { field: 'parameters.region', message: 'must be a string' },
          { field: 'parameters.x', message: 'is not a slot of this query' },
        ],
      },
    })
    expect((await t.operator.post(preview, { sql: 'SELEC 1' })).body).toMatchObject({ reason: 'invalid_sql' })
  })

  test('a preview is cut at its own limit and says so', async () => {
    await t.operator.post(path, { name: 'many', sql: 'SELECT i FROM range(5000) t(i)' })
    expect((await t.operator.post(`${path}/many/preview`, {})).body).toMatchObject({ row_count: 1000, truncated: true })
  })

  test('200 explains', async () => {
    const answer = await t.operator.post(`${path}/orders_by_region/explain`, { parameters: { region: 'north' } })
    expect(answer.body.plan).toMatch(/orders|SCAN|FILTER/i)
    expect(answer.body.steps[0]).toMatchObject({ operator: expect.stringMatching(/SCAN|READ/), table: 'orders' })
    expect(answer.body.steps.every((step: { operator: string }) => step.operator !== 'PROJECTION')).toBe(true)
  })
})
