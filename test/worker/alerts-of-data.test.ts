import { beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import type { QueryProject } from '../harness/queries.ts'
import { orders, putTable } from '../harness/tables.ts'
import { stageAlerts } from './alerts-stage.ts'

const stage = stageAlerts()
const { create, read, round } = stage
let t: TestApp
let q: QueryProject
beforeEach(() => void ({ t, q } = stage.parts()))

const minuteMs = 60_000

describe('an alert about data', () => {
  test('a job that failed, and data that is old', async () => {
    const failed = await create({ type: 'job_failed' })
    const stale = await create({ type: 'data_stale', threshold: 30 })
    const ofQuery = await create({ type: 'data_stale', threshold: 30, query: 'one' })
    await round()
    expect([(await read(failed.id)).state, (await read(stale.id)).state]).toEqual(['ok', 'ok'])
    await t.app.store.db
      .insertInto('jobs')
      .values({
        id: `job_${q.projectId}`,
        projectId: q.projectId,
        jobType: 'test',
        status: 'failed',
        source: 'datasource',
        sourceId: 'ds_1',
        sourceEventType: 'http_api',
        input: '{}',
        finishedAt: new Date(t.app.now()),
      })
      .execute()
    await round()
    expect(await read(failed.id)).toMatchObject({ state: 'firing', value: 1 })
    await round(31 * minuteMs)
    expect((await read(failed.id)).state).toBe('ok')
    expect((await read(stale.id)).state).toBe('firing')
    expect((await read(ofQuery.id)).state).toBe('firing')
    expect((await read(stale.id)).value).toBeGreaterThan(30)
  })

  test('data later than its schedule promises', async () => {
    const alert = await create({ type: 'data_stale', window_minutes: 5 })
    await t.app.store.db
      .updateTable('datasources')
      .set({ schedule: '0 * * * *', refreshedAt: new Date(t.app.now()) })
      .where('projectId', '=', q.projectId)
      .execute()
    await round()
    expect((await read(alert.id)).state).toBe('ok')
    await round(66 * minuteMs)
    expect((await read(alert.id)).state).toBe('firing')
  })

  test('a model that is not built from the newest data of its tables', async () => {
    const alert = await create({ type: 'data_stale', window_minutes: 5 })
    const models = `/v1/projects/${q.projectId}/models`
    await expectStatus(201, t.operator.post(models, { name: 'few', sql: 'select id from orders limit 3' }))
    const source = t.app.store.db.selectFrom('datasources').select('id').where('projectId', '=', q.projectId)
    const live = async (tableName: string) => {
      const { id } = await source.where('tableName', '=', tableName).executeTakeFirstOrThrow()
      return t.app.store.db.updateTable('dataObjects').where('datasourceId', '=', id).where('isLive', '=', true)
    }
    await t.app.jobs.start()
    await expect.poll(async () => (await t.operator.get(`${models}/few`)).body.row_count, { timeout: 30_000 }).toBe(3)
    await round(60 * minuteMs)
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 0 })
    // A newer version serves, of which no build came through.
    await (await live('orders')).set({ version: 2, activatedAt: new Date(t.app.now()) }).execute()
    await round(4 * minuteMs)
    expect((await read(alert.id)).state).toBe('ok')
    await round(3 * minuteMs)
    expect(await read(alert.id)).toMatchObject({ state: 'firing' })
    await (await live('orders')).set({ version: 1 }).execute()
    await round()
    expect((await read(alert.id)).state).toBe('ok')
  })

  test('data that a schedule promises and that never came', async () => {
    const projectId = await t.project()
    const made = { type: 'data_stale', name: 'late', window_minutes: 5, channels: [] }
    const path = `/v1/projects/${projectId}/alerts`
    const { id } = (await expectStatus(201, t.operator.post(path, made))).body
    await t.app.store.db
      .insertInto('datasources')
      .values({
        id: `ds_promised_${projectId}`,
        projectId,
        name: 'Promised',
        kind: 'http_api',
        tableName: 'promised',
        schedule: '0 * * * *',
        createdAt: new Date(t.app.now()),
      })
      .execute()
    const stateOf = async () => (await t.operator.get(`${path}/${id}`)).body.state
    await round()
    expect(await stateOf()).toBe('ok')
    await round(66 * minuteMs)
    expect(await stateOf()).toBe('firing')
  })

  test('new data that is held, until it serves', async () => {
    const alert = await create({ type: 'data_held' })
    const elsewhere = await create({ type: 'data_held', environment: 'staging' })
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 0 })
    const hold = (held: object | null) =>
      t.app.store.db
        .updateTable('dataObjects')
        .set({ isLive: held === null, heldBecause: held === null ? null : JSON.stringify(held) })
        .where('projectId', '=', q.projectId)
        .execute()
    await hold({ reason: 'breaking', message: 'x' })
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 1 })
    expect((await read(elsewhere.id)).state).toBe('ok')
    await hold(null)
    await round()
    expect((await read(alert.id)).state).toBe('ok')
  })

  test('a change of columns that a deployed query reads', async () => {
    const alert = await create({ type: 'schema_drift', window_minutes: 10_080 })
    const elsewhere = await create({ type: 'schema_drift', window_minutes: 10_080, environment: 'staging' })
    await putTable(t.app, q.projectId, { name: 'orders', rows: orders(3) })
    const drift = (name: string) => ({ added: [], removed: [name], changed: [] })
    const write = (name: string) =>
      t.app.store.db
        .updateTable('dataObjects')
        .set({ drift: JSON.stringify(drift(name)) })
        .where('projectId', '=', q.projectId)
        .where('version', '=', 2)
        .execute()
    await write('paid')
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 0 })
    await write('id')
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 1 })
    expect((await read(elsewhere.id)).state).toBe('ok')
  })
})
