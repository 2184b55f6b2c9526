import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fixedLimits } from '../../api/limits.ts'
import { runDueSchedules } from '../../server/connections/index.ts'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openModelProject, type ModelProject } from '../harness/models.ts'

let t: TestApp
let p: ModelProject
beforeAll(async () => {
  t = await openTestApp()
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  p = await openModelProject(t)
  await p.load('orders', orders)
})

const orders = ['north', 'south', 'east'].flatMap((region, at) => [
  { id: at, region, total: 10 * at },
  { id: at + 3, region, total: 1 },
])
const perRegion = 'select region, count(*) as n, sum(total) as total from orders group by region'

test('a model is read as any table is: values of slots, download, lineage and the map', async () => {
  await p.create('regions', perRegion)
  await p.create('best', 'select * from regions order by total desc limit 1')
  await p.settled()
  const region = { type: 'string', 'x-values-from': 'regions.region' }
  const slots = { type: 'object', properties: { region }, required: ['region'] }
  const query = { name: 'of_region', sql: 'select n, total from regions where region = $region', slots }
  await expectStatus(201, t.operator.post(`${p.path}/queries`, query))
  const deploy = { environment: 'production', force: true }
  await expectStatus(200, t.operator.post(`${p.path}/queries/of_region/deploy`, deploy))
  const permissions = [{ project_id: p.projectId, environments: '*' }]
  const { body: key } = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', permissions }))
  const call = async (name: string) =>
    (await expectStatus(200, t.withToken(key.secret).post('/v1/queries/of_region', { region: name }))).body
  expect((await call('south')).data).toEqual([{ n: 2, total: 11 }])
  expect((await call('nrth')).warnings).toMatchObject([{ code: 'unknown_value', nearest: ['north'] }])

  const [version] = await p.versions('regions')
  const object = `${p.path}/data-objects/${String(version?.['data_object_id'])}`
  const headers = { authorization: `Bearer ${operatorToken}` }
  const file = await t.http.inject({ url: `${object}/download`, headers })
  expect(file.rawPayload.subarray(0, 4).toString()).toBe('PAR1')
  const { body: lineage } = await expectStatus(200, t.operator.get(`${object}/lineage`))
  expect(lineage.nodes.map(({ label }: { label: string }) => label)).toEqual(
    expect.arrayContaining([expect.stringContaining('of_region')]),
  )

  const map = async () => (await expectStatus(200, t.operator.get(`${p.path}/map`))).body
  const statuses = async () => {
    const { tables, queries } = await map()
    const both = [...tables, ...queries] as Array<{ name: string; status: string }>
    return Object.fromEntries(both.map(({ name, status }) => [name, status]))
  }
  expect((await map()).sources).toMatchObject([
    { table: 'best', kind: 'model', reads: ['regions'] },
    { table: 'orders', kind: 'file', reads: [] },
    { table: 'regions', kind: 'model', reads: ['orders'] },
  ])
  expect(await statuses()).toEqual({ orders: 'fresh', regions: 'fresh', best: 'fresh', of_region: 'fresh' })
  // What its table was not fetched in time for is old all the way up.
  const changed = { schedule: '0 * * * *', refreshedAt: new Date(t.app.now() - 86_400_000) }
  const id = await p.idOf('orders')
  await t.app.store.db.updateTable('datasources').set(changed).where('id', '=', id).execute()
  await t.app.store.db
    .updateTable('dataObjects')
    .set({ checkedAt: changed.refreshedAt })
    .where('datasourceId', '=', id)
    .execute()
  expect(await statuses()).toEqual({ orders: 'stale', regions: 'stale', best: 'stale', of_region: 'stale' })
})

test('a model is built on its schedule, too, though none of its tables changed', async () => {
  await p.create('now', 'select now() as at, count(*) as n from orders', { schedule: '0 6 * * *' })
  await p.settled()
  expect(await p.versions('now')).toHaveLength(1)
  const due = { nextRefreshAt: new Date(t.app.now() - 1_000) }
  const id = await p.idOf('now')
  await t.app.store.db.updateTable('datasources').set(due).where('id', '=', id).execute()
  await runDueSchedules(t.app)
  await p.settled()
  expect(await p.versions('now')).toMatchObject([{ version: 2, status: 'live' }, { version: 1 }])
})

test('a build ends at its limits of rows, bytes and time, and the last good version serves', async () => {
  await p.create('numbers', 'select id from orders')
  await p.settled()
  const { limits } = t.app.config
  const was = { ...limits }
  const refused = async (sql: string, problem: RegExp): Promise<void> => {
    await expectStatus(200, t.operator.put(`${p.path}/models/numbers`, { sql }))
    const failed = { status: 'failed', row_count: 6, problem: expect.stringMatching(problem) as string }
    await expect.poll(() => p.model('numbers'), { timeout: 60_000 }).toMatchObject(failed)
    // Not tried again under other limits.
    for (const { id } of await p.jobs('rebuild_model')) await t.operator.post(`/v1/jobs/${String(id)}/cancel`)
    await p.settled()
  }
  try {
    limits.modelRows = 5
    await refused('select id + 1 as id from orders', /more than 5 rows/)
    Object.assign(limits, was, { modelBytes: 100_000 })
    await refused('select md5(i::varchar) as id from orders, range(100000) r(i)', /more than 100000 bytes/)
    Object.assign(limits, was, { modelTimeoutMs: 500 })
    await refused('select max(a.i * b.i) as id from orders, range(100000) a(i), range(100000) b(i)', /time|limit/)
  } finally {
    Object.assign(limits, was)
  }
})

test('models stand on each other as deep as they may, and no deeper', async () => {
  const most = fixedLimits.modelDepth.value
  for (let at = 1; at <= most; at += 1) {
    await p.create(`m${at}`, `select id from ${at === 1 ? 'orders' : `m${at - 1}`}`)
  }
  const deeper = await t.operator.post(`${p.path}/models`, { name: 'too_deep', sql: `select id from m${most}` })
  expect(deeper).toMatchObject({ status: 400 })
  expect(deeper.body.message).toContain(`${most} deep`)
  await p.settled()
  expect(await p.rows(`select count(*) as n from m${most}`)).toEqual([{ n: 6 }])
})
