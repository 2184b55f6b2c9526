import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openModelProject, type ModelProject, type Rows } from '../harness/models.ts'

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

const order = (id: number, customer: number, total: number) => ({ id, customer, total, gone: false })
const orders = [order(1, 1, 10), order(2, 1, 5), order(3, 2, 7)]
const customers = [
  { id: 1, country: 'DE' },
  { id: 2, country: 'FR' },
]
/** Orders that come bit by bit, under their number; a row that is marked is gone. */
const loadOrders = async (rows: Rows = orders) => {
  const load = { mode: 'merge', primary_key: ['id'], delete_marker: { field: 'gone', value: true } }
  if ((await p.idOf('orders')) === '') await p.table('orders', { load })
  await p.load('orders', rows)
}
const merge = { load: { mode: 'merge', primary_key: ['id'] } }
const perOrder = `select o.id, o.total, c.country from {{new rows of orders}} o join customers c on c.id = o.customer`
/** What each build of a model brought, the newest first. */
const builds = async (name: string) =>
  (await p.versions(name)).map(({ new_rows: rows, row_count: all }) => ({ rows, all }))
const isAsBuiltAnew = async (name: string) => {
  const { body } = await expectStatus(200, t.operator.post(`${p.path}/models/${name}/compare`, {}))
  expect(body).toMatchObject({ added: 0, removed: 0, changed: 0 })
}

describe('a merged model of new rows', () => {
  beforeEach(async () => {
    await loadOrders()
    await p.load('customers', customers)
    await p.settled()
  })

  test('reads the rows that came since it was last built, and is what a full build would make', async () => {
    await p.create('lines', perOrder, merge)
    await p.settled()
    await loadOrders([order(2, 2, 50), order(4, 1, 1)])
    await p.settled()
    expect(await p.rows('select id, total, country from lines order by id')).toEqual([
      { id: 1, total: 10, country: 'DE' },
      { id: 2, total: 50, country: 'FR' },
      { id: 3, total: 7, country: 'FR' },
      { id: 4, total: 1, country: 'DE' },
    ])
    expect((await builds('lines'))[0]).toMatchObject({ rows: 2, all: 4 })
    expect(await p.model('lines')).toMatchObject({ behind: [], reads: ['customers', 'orders'] })
    await isAsBuiltAnew('lines')
    // Of several loads at once, too.
    await loadOrders([order(5, 1, 5)])
    await loadOrders([order(6, 1, 6), order(5, 1, 55)])
    await p.settled()
    expect(await p.rows('select sum(total) as total from lines')).toEqual([{ total: 10 + 50 + 7 + 1 + 55 + 6 }])
    await isAsBuiltAnew('lines')
  })

  test('is tested with rows as new ones, and holds a version of its table that would break it', async () => {
    await p.create('lines', perOrder, merge)
    await p.settled()
    const given = { orders: [order(7, 1, 70)], customers }
    const own = { name: 'one_line', model: 'lines', given, expect: [{ id: 7, total: 70, country: 'DE' }], exact: true }
    const sent = { tests: [own], models: [{ name: 'lines', sql: perOrder.replace('o.total', 'o.total + 1 as total') }] }
    const run = (body: Record<string, unknown>) => t.operator.post(`${p.path}/tests/run`, body)
    expect((await expectStatus(200, run({ tests: [own] }))).body).toMatchObject({ passed: 1, failed: 0 })
    expect((await expectStatus(200, run(sent))).body).toMatchObject({ passed: 0, failed: 1 })
    await p.load('customers', [{ id: 1, land: 'DE' }])
    await p.settled()
    const [newest] = await p.versions('customers')
    expect(newest).toMatchObject({ version: 2, status: 'held' })
    expect(JSON.stringify(newest)).toContain('lines (model)')
  })

  test('is built in full where another version is put in its place while its new rows are counted', async () => {
    await p.create('lines', perOrder, merge)
    await p.settled()
    await loadOrders([order(4, 1, 1)])
    await p.settled()
    const first = `${p.path}/datasources/${await p.idOf('lines')}/versions/1/activate`
    const { engine } = t.app
    const counted = engine.streamBehind.bind(engine)
    let isPutBack = false
    engine.streamBehind = async (...asked) => {
      engine.streamBehind = counted
      await expectStatus(200, t.operator.post(first))
      isPutBack = true
      return counted(...asked)
    }
    await loadOrders([order(5, 2, 5)])
    await p.settled()
    expect(isPutBack).toBe(true)
    expect(await p.rows('select id from lines order by id')).toEqual([1, 2, 3, 4, 5].map((id) => ({ id })))
    await isAsBuiltAnew('lines')
  })

  test('finds the groups that new rows touch', async () => {
    const sql = `select c.country as id, sum(o.total) as total from orders o join customers c on c.id = o.customer
      where o.customer in (select customer from {{new rows of orders}}) group by 1`
    await p.create('revenue', sql, merge)
    await p.settled()
    await loadOrders([order(4, 2, 100)])
    await p.settled()
    expect((await builds('revenue'))[0]).toMatchObject({ rows: 1, all: 2 })
    expect(await p.rows('select id, total from revenue order by id')).toEqual([
      { id: 'DE', total: 15 },
      { id: 'FR', total: 107 },
    ])
    await isAsBuiltAnew('revenue')
  })

  test('is built in full where a table that it reads as a whole changed, was loaded anew, or lost rows', async () => {
    await p.create('lines', perOrder, merge)
    await p.settled()
    await p.load('customers', [{ id: 1, country: 'AT' }, customers[1] ?? {}])
    await p.settled()
    expect(await p.rows('select country from lines where id = 1')).toEqual([{ country: 'AT' }])
    await isAsBuiltAnew('lines')
    // Rows that are gone leave no trace among those that came.
    await loadOrders([{ ...order(3, 2, 7), gone: true }])
    await p.settled()
    expect(await p.rows('select id from lines order by id')).toEqual([{ id: 1 }, { id: 2 }])
    await loadOrders([{ ...order(2, 1, 5), gone: true }, order(9, 1, 9)])
    await p.settled()
    expect(await p.rows('select id from lines order by id')).toEqual([{ id: 1 }, { id: 9 }])
    expect((await builds('lines')).every(({ rows, all }) => rows === all)).toBe(true)
    // Back to a version of before: what came since is not among its rows.
    await loadOrders([order(10, 1, 10)])
    await p.settled()
    expect((await builds('lines'))[0]).toMatchObject({ rows: 1, all: 3 })
    await expectStatus(200, t.operator.post(`${p.path}/datasources/${await p.idOf('orders')}/versions/1/activate`))
    await p.settled()
    expect(await p.rows('select id from lines order by id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    await isAsBuiltAnew('lines')
  })

  test('counts rows that change nothing as built in', async () => {
    await p.create('large', `select id, total from {{new rows of orders}} where total > 6`, merge)
    await p.create('top', 'select max(total) as most from large')
    await p.settled()
    await loadOrders([order(4, 1, 1)])
    await p.settled()
    expect(await p.model('large')).toMatchObject({ behind: [], built_from: [{ table: 'orders', version: 2 }] })
    expect(await p.model('top')).toMatchObject({ behind: [] })
    expect(await p.rows('select (select count(*) from orders) as o, (select count(*) from large) as l')).toEqual([
      { o: 4, l: 2 },
    ])
    expect(await builds('large')).toHaveLength(1)
  })

  test('survives that its table is put together meanwhile, and that its own SQL changes', async () => {
    await p.create('lines', perOrder, merge)
    await p.settled()
    for (let id = 10; id < 28; id += 1) await loadOrders([order(id, 1, id), order(3, 2, id)])
    await p.settled()
    await isAsBuiltAnew('lines')
    const doubled = perOrder.replace('o.total', 'o.total * 2 as total')
    await expectStatus(200, t.operator.put(`${p.path}/models/lines`, { sql: doubled, ...merge }))
    await p.settled()
    expect(await p.rows('select total from lines where id = 1')).toEqual([{ total: 20 }])
    await isAsBuiltAnew('lines')
  })

  test('refuses a key that is doubled or missing, and leaves the last good version', async () => {
    await p.create('lines', `select customer as id, total from {{new rows of orders}}`, merge)
    await p.settled()
    const twice = await p.model('lines')
    expect(twice).toMatchObject({ status: 'failed', row_count: null })
    expect(twice.problem).toContain('3 rows with 2 values of the primary key (id)')
    const single = 'select customer as id, max(total) as total from {{new rows of orders}} group by 1'
    await expectStatus(200, t.operator.put(`${p.path}/models/lines`, { sql: single, ...merge }))
    await p.settled()
    expect(await p.model('lines')).toMatchObject({ status: 'ready', row_count: 2, problem: null })
    await loadOrders([{ id: 7, customer: null, total: 1, gone: false }])
    await p.settled()
    const none = await p.model('lines')
    expect(none).toMatchObject({ status: 'failed', row_count: 2, behind: ['orders'] })
    expect(none.problem).toContain('1 row has no value in the primary key (id)')
  })

  test('refuses new rows without a key, under another name, and of nothing', async () => {
    const post = (sql: string, load: unknown) => t.operator.post(`${p.path}/models`, { name: 'x', sql, load })
    const whole = await post(perOrder, { mode: 'replace' })
    expect(whole).toMatchObject({ status: 400, body: { details: [{ field: 'load.mode' }] } })
    expect(await post('select * from {{last rows of orders}}', merge.load)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'sql' }] },
    })
    const none = await post('select * from {{new rows of nothing}}', merge.load)
    expect(none).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect(none.body.message).toContain('new rows of nothing')
    const hostile = await post(`select * from {{new rows of orders" ; drop table x}}`, merge.load)
    expect(hostile).toMatchObject({ status: 400, body: { details: [{ field: 'sql' }] } })
  })
})

test('random loads, restores and compactions: merged is what a full build makes, every time', async () => {
  let seed = Number(process.env['TEST_SEED'] ?? 7)
  const random = (most: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % most
  await loadOrders()
  await p.load('customers', customers)
  await p.create('lines', perOrder, merge)
  await p.settled()
  const id = await p.idOf('orders')
  for (let round = 0; round < 6; round += 1) {
    const loads = 1 + random(3)
    for (let load = 0; load < loads; load += 1) {
      const rows = Array.from({ length: 1 + random(4) }, () => ({
        ...order(1 + random(30), 1 + random(2), random(100)),
        gone: random(5) === 0,
      }))
      await loadOrders([...new Map(rows.map((row) => [row.id, row])).values()])
    }
    if (random(4) === 0) {
      const versions = (await p.versions('orders')).filter(({ status }) => status === 'superseded')
      const back = versions[random(versions.length)]?.['version']
      if (back !== undefined) await t.operator.post(`${p.path}/datasources/${id}/versions/${Number(back)}/activate`)
    }
    await p.settled()
    expect(await p.model('lines'), `round ${round}`).toMatchObject({ problem: null, behind: [] })
    await isAsBuiltAnew('lines')
  }
}, 180_000)
