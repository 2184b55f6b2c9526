import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openModelProject, type ModelProject } from '../harness/models.ts'
import { openQueryProject } from '../harness/queries.ts'

let t: TestApp
let p: ModelProject
beforeAll(async () => {
  t = await openTestApp()
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  p = await openModelProject(t)
})

const orders = [
  { id: 1, customer: 1, total: 10 },
  { id: 2, customer: 1, total: 5 },
  { id: 3, customer: 2, total: 7 },
]
const customers = [
  { id: 1, country: 'DE' },
  { id: 2, country: 'FR' },
]
const revenue = `select c.country, sum(o.total) as revenue, count(*) as orders
  from orders o join customers c on c.id = o.customer group by c.country`
const loadBoth = async () => {
  await p.load('orders', orders)
  await p.load('customers', customers)
  await p.settled()
}

describe('a model', () => {
  test('is a table of its own: versions, lineage, profile, download, and what it was built from', async () => {
    await loadBoth()
    await p.create('revenue', revenue, { description: 'Revenue by country' })
    await p.settled()
    expect(await p.rows('select country, revenue, orders from revenue order by 1')).toEqual([
      { country: 'DE', revenue: 15, orders: 2 },
      { country: 'FR', revenue: 7, orders: 1 },
    ])
    expect(await p.model('revenue')).toMatchObject({
      status: 'ready',
      problem: null,
      reads: ['customers', 'orders'],
      behind: [],
      built_from: [
        { table: 'customers', version: 1 },
        { table: 'orders', version: 1 },
      ],
      row_count: 2,
    })
    const [version] = await p.versions('revenue')
    expect(version).toMatchObject({ version: 1, status: 'live', row_count: 2 })
    const object = await expectStatus(
      200,
      t.operator.get(`${p.path}/data-objects/${String(version?.['data_object_id'])}`),
    )
    expect(object.body).toMatchObject({ kind: 'response_data', profile: { row_count: 2 } })
    expect(await p.rows("select count(*) as n from revenue where country = 'DE'")).toEqual([{ n: 1 }])
  })

  test('is built again when a table that it reads changes, each model once and behind those that it reads', async () => {
    await loadBoth()
    await p.create('revenue', revenue)
    await p.create('paid', 'select id, customer, total from orders where total > 5')
    await p.create('best', 'select r.country, p.id from revenue r, paid p order by all')
    await p.settled()
    const before = (await p.jobs('rebuild_model')).length
    expect(await p.rows('select count(*) as n from best')).toEqual([{ n: 4 }])
    await p.load('orders', [...orders, { id: 4, customer: 2, total: 100 }])
    await p.settled()
    expect(await p.rows("select revenue from revenue where country = 'FR'")).toEqual([{ revenue: 107 }])
    expect(await p.rows('select count(*) as n from best')).toEqual([{ n: 6 }])
    expect(await p.versions('best')).toMatchObject([{ version: 2 }, { version: 1 }])
    expect((await p.jobs('rebuild_model')).length).toBeGreaterThan(before)
    expect(await p.model('best')).toMatchObject({
      behind: [],
      built_from: [
        { table: 'customers', version: 1 },
        { table: 'orders', version: 2 },
        { table: 'paid', version: 2 },
        { table: 'revenue', version: 2 },
      ],
    })
  })

  test('refuses a cycle with its path, a slot, no table, and what is no SELECT', async () => {
    await loadBoth()
    await p.create('a', 'select * from orders')
    await p.settled()
    await p.create('b', 'select * from a')
    await p.create('c', 'select * from b')
    const post = (sql: string) => t.operator.post(`${p.path}/models`, { name: 'x', sql })
    const cycle = await t.operator.put(`${p.path}/models/a`, { sql: 'select * from c' })
    expect(cycle).toMatchObject({ status: 400, body: { reason: 'model_cycle' } })
    expect(cycle.body.message).toContain('a reads c reads b reads a')
    const slot = await post('select * from orders where id = $id')
    expect(slot).toMatchObject({ status: 400, body: { reason: 'invalid_field' } })
    expect(slot.body.message).toContain('$id')
    expect(await post('select 1 as one')).toMatchObject({ status: 400 })
    expect(await post('create table x as select 1')).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect(await post('select * from nothing')).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect(await post('select id, total as ID from orders')).toMatchObject({ status: 400 })
    await p.settled()
  })

  test('of two that are changed at once, each to read the other, one is refused', async () => {
    await loadBoth()
    for (const name of ['a', 'b']) await p.create(name, 'select id from orders')
    await p.settled()
    const { pool } = t.app.store
    const held = await pool.connect()
    await held.query('begin')
    await held.query('select id from datasources where project_id = $1 for update', [p.projectId])
    const change = (name: string, sql: string) => t.operator.put(`${p.path}/models/${name}`, { sql })
    const both = Promise.all([change('a', 'select id from b'), change('b', 'select id from a')])
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(2)
    await held.query('commit')
    held.release()
    expect((await both).map(({ status }) => status).toSorted()).toEqual([200, 400])
    await p.settled()
  })

  test('is changed, stays while something reads it, and goes with its data', async () => {
    await loadBoth()
    await p.create('paid', 'select id, total from orders where total > 5')
    await p.create('top', 'select max(total) as most from paid')
    await p.settled()
    await expectStatus(
      200,
      t.operator.put(`${p.path}/models/paid`, { sql: 'select id, total from orders where total > 8' }),
    )
    await p.settled()
    expect(await p.rows('select count(*) as n from paid')).toEqual([{ n: 1 }])
    const refused = await t.operator.delete(`${p.path}/models/paid`)
    expect(refused).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    expect(refused.body.message).toContain('top')
    const source = await t.operator.delete(`${p.path}/datasources/${await p.idOf('orders')}`)
    expect(source).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    await expectStatus(204, t.operator.delete(`${p.path}/models/top`))
    await expectStatus(204, t.operator.delete(`${p.path}/models/paid`))
    expect((await t.operator.get(`${p.path}/models`)).body.data).toEqual([])
  })
})

describe('while a model is behind', () => {
  /** A model whose next build is held, and a newer version of its table. */
  const heldBack = async () => {
    await loadBoth()
    await p.create('paid', 'select id, customer, total from orders')
    await p.create('top', 'select customer, max(total) as most from paid group by 1')
    await p.settled()
    const checks = [{ type: 'unique', columns: ['id'] }]
    await expectStatus(200, t.operator.patch(`${p.path}/datasources/${await p.idOf('paid')}/schema`, { checks }))
    await p.load('orders', [...orders, { id: 3, customer: 2, total: 1000 }])
    await p.settled()
  }

  test('the last good version serves and says so, on the models above as well', async () => {
    await heldBack()
    const paid = await p.model('paid')
    expect(paid).toMatchObject({ status: 'held', behind: ['orders'], built_from: [{ table: 'orders', version: 1 }] })
    expect(paid.problem).toContain('id is not unique')
    expect((await p.model('top')).problem).toContain('paid')
    expect(await p.rows('select count(*) as n from paid')).toEqual([{ n: 3 }])
  })

  test('a statement that reads it with its table sees the version that it was built from; the table alone is new', async () => {
    await heldBack()
    expect(await p.rows('select count(*) as n from orders')).toEqual([{ n: 4 }])
    expect(await p.rows('select (select count(*) from orders) as o, (select count(*) from paid) as p')).toEqual([
      { o: 3, p: 3 },
    ])
    // By way of another model, too.
    expect(await p.rows('select (select sum(total) from orders) as o, (select sum(most) from top) as p')).toEqual([
      { o: 22, p: 17 },
    ])
    // Once it is let in, all is of one moment again.
    await expectStatus(200, t.operator.post(`${p.path}/datasources/${await p.idOf('paid')}/versions/2/activate`))
    await p.settled()
    expect(await p.rows('select (select count(*) from orders) as o, (select count(*) from paid) as p')).toEqual([
      { o: 4, p: 4 },
    ])
    expect(await p.rows('select (select sum(total) from orders) as o, (select sum(most) from top) as p')).toEqual([
      { o: 1022, p: 1010 },
    ])
  })

  test('the version that it was built from is kept, whatever is loaded meanwhile', async () => {
    await loadBoth()
    await expectStatus(200, t.operator.patch(`${p.path}/datasources/${await p.idOf('orders')}`, { keep_versions: 1 }))
    await p.create('paid', 'select id, total from orders')
    await p.settled()
    const checks = [{ type: 'unique', columns: ['id'] }]
    await expectStatus(200, t.operator.patch(`${p.path}/datasources/${await p.idOf('paid')}/schema`, { checks }))
    for (const total of [1, 2, 3]) await p.load('orders', [...orders, { id: 3, customer: 2, total }])
    await p.settled()
    expect((await p.versions('orders')).map(({ version }) => version)).toEqual([4, 1])
    expect(await p.rows('select (select count(*) from orders) as o, (select count(*) from paid) as p')).toEqual([
      { o: 3, p: 3 },
    ])
    const [, first] = await p.versions('orders')
    const gone = await t.operator.delete(`${p.path}/data-objects/${String(first?.['data_object_id'])}`)
    expect(gone).toMatchObject({ status: 409, body: { reason: 'in_use' } })
  })

  test('an answer is as old as the oldest data that it rests on', async () => {
    const q = await openQueryProject(t)
    const made = await expectStatus(
      201,
      t.operator.post(`/v1/projects/${q.projectId}/models`, { name: 'few', sql: 'select * from orders limit 3' }),
    )
    await expect
      .poll(async () => (await t.operator.get(`/v1/projects/${q.projectId}/models/few`)).body.row_count, {
        timeout: 30_000,
      })
      .toBe(3)
    expect(made.body.as_of).toBeNull()
    await q.deploy({ name: 'some', sql: 'select * from few' })
    const answer = await expectStatus(200, q.caller.post('/v1/queries/some', {}))
    const { body } = await t.operator.get(`/v1/projects/${q.projectId}/models/few`)
    expect(answer.body.as_of).toBe(body.as_of)
    expect(Date.parse(body.as_of)).toBeLessThan(Date.parse(body.built_at))
  })
})

test('a version of a table that would break a model is held as for a deployed query', async () => {
  await loadBoth()
  await p.create('revenue', revenue)
  await p.settled()
  await p.load('orders', [{ id: 1, customer: 1 }])
  await p.settled()
  const [newest] = await p.versions('orders')
  expect(newest).toMatchObject({ version: 2, status: 'held', held_because: { reason: 'breaking' } })
  expect(JSON.stringify(newest)).toContain('revenue (model)')
})

test('what fails while it runs leaves the last good version, and the job says why', async () => {
  await loadBoth()
  await p.create('shares', "select id, 100 // (total - 7) as share from orders where total <> 7 or error('seven')")
  await p.settled()
  const jobs = await p.jobs('rebuild_model')
  expect(jobs).toMatchObject([{ status: 'failed', error: { code: 'invalid_query' } }])
  expect(await p.model('shares')).toMatchObject({ status: 'failed', row_count: null })
})

describe('a comparison', () => {
  test('names the queries, questions and callers behind it, by way of other models', async () => {
    const q = await openQueryProject(t)
    const path = `/v1/projects/${q.projectId}`
    const post = (name: string, sql: string) => expectStatus(201, t.operator.post(`${path}/models`, { name, sql }))
    const has = async (name: string): Promise<void> => {
      const count = async () => (await t.operator.get(`${path}/models/${name}`)).body.row_count
      await expect.poll(count).toBeGreaterThan(0)
    }
    await post('few', 'select * from orders limit 3')
    await has('few')
    await post('fewer', 'select * from few limit 2')
    await has('fewer')
    await q.deploy({ name: 'some', sql: 'select * from fewer' })
    await expectStatus(200, q.caller.post('/v1/queries/some', {}))
    const asked = { question: 'show me some', expected_query: 'some' }
    await expectStatus(201, t.operator.post(`${path}/evaluations`, asked))
    const { body } = await expectStatus(200, t.operator.post(`${path}/models/few/compare`, {}))
    expect(body.moves).toMatchObject({ models: ['fewer'], queries: ['some'], questions: ['show me some'] })
    expect(body.moves.callers).toHaveLength(1)
    const { body: definition } = await t.operator.get(`${path}/definition`)
    const models = definition.models.map((each: { name: string }) =>
      each.name === 'few' ? { ...each, sql: 'select * from orders limit 2' } : each,
    )
    const check = await t.operator.put(`${path}/definition?check=true`, { ...definition, models })
    const entry = check.body.plan.find(({ name }: { name: string }) => name === 'few')
    expect(entry.readers).toEqual([{ environment: 'production', query: 'some' }])
  })

  test('says by key what other SQL would add, remove and change, by column, and what would move', async () => {
    await loadBoth()
    await p.create('paid', 'select id, customer, total from orders')
    await p.create('top', 'select max(total) as most from paid')
    await p.settled()
    const sql =
      'select id, customer, total * 2 as total, true as paid from orders where id > 1 union all select 9, 9, 9, true'
    const { body } = await expectStatus(200, t.operator.post(`${p.path}/models/paid/compare`, { sql, key: ['id'] }))
    expect(body).toMatchObject({
      rows_before: 3,
      rows_after: 3,
      added: 1,
      removed: 1,
      changed: 2,
      equal: 0,
      changed_by_column: { total: 2 },
      columns_added: ['paid'],
      columns_removed: [],
      moves: { models: ['top'], queries: [], questions: [], callers: [] },
    })
    expect(body.examples).toContainEqual({
      change: 'removed',
      before: { id: 1, customer: 1, total: 10 },
      after: null,
    })
    const same = await expectStatus(200, t.operator.post(`${p.path}/models/paid/compare`, {}))
    expect(same.body).toMatchObject({ key: [], added: 0, removed: 0, changed: 0, equal: 3 })
  })
})
