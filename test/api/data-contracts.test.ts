import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type Client, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, rowsOf, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
let caller: Client
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', plan: 'unlimited', permissions }))
  caller = t.withToken(key.body.secret)
})

const datasource = () => `/v1/projects/${projectId}/datasources/ds_${projectId}`
const load = async (rows: unknown) => {
  source.answer(rows)
  const input = { projectId, datasourceId: `ds_${projectId}`, url: source.url, name: 'sales' }
  return (await expectStatus(200, execute(t.operator, input))).body
}
const change = (body: Record<string, unknown>) => t.operator.patch(`${datasource()}/schema`, body)
const schema = async () => (await expectStatus(200, t.operator.get(`${datasource()}/schema`))).body
const versions = async () => (await expectStatus(200, t.operator.get(`${datasource()}/versions`))).body.data
const found = async () => (await expectStatus(200, t.operator.get(datasource()))).body

async function deploy(sql: string, name = 'total') {
  await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/queries`, { name, sql }))
  await expectStatus(200, t.operator.post(`/v1/projects/${projectId}/queries/${name}/deploy`, {}))
}
const answer = async (name = 'total') => (await expectStatus(200, caller.post(`/v1/queries/${name}`, {}))).body.data

const good = [
  { id: 1, amount: 10 },
  { id: 2, amount: 20 },
]
const spoilt = [
  { id: 1, amount: 'unknown' },
  { id: 2, amount: 20 },
]

describe('what a refresh may do', () => {
  test('a word among numbers waits while a deployed query reads them, and the next good load serves', async () => {
    await load(good)
    await deploy('SELECT sum(amount) AS total FROM sales')
    const held = await load(spoilt)
    expect(held.held_because).toMatchObject({
      reason: 'breaking',
      queries: [{ name: 'total', environments: ['production'] }],
    })
    expect(await answer()).toEqual([{ total: 30 }])
    expect(await found()).toMatchObject({ status: 'held', held: { version: 2, held_because: { reason: 'breaking' } } })
    expect(await load([...good, { id: 3, amount: 5 }])).not.toHaveProperty('held_because')
    expect(await answer()).toEqual([{ total: 35 }])
    expect(await found()).toMatchObject({ status: 'ready', held: null })
    expect(
      (await versions()).map(({ version, status }: { version: number; status: string }) => [version, status]),
    ).toEqual([
      [3, 'live'],
      [2, 'held'],
      [1, 'superseded'],
    ])
  })

  test('a query that only compares is spared the word, too; a new fraction is no break', async () => {
    await load(good)
    await deploy('SELECT count(*) AS many FROM sales WHERE amount > 5', 'many')
    expect((await load(spoilt)).held_because).toMatchObject({ reason: 'breaking' })
    expect(await load([{ id: 1, amount: 10.5 }])).not.toHaveProperty('held_because')
    expect(await answer('many')).toEqual([{ many: 1 }])
  })

  test.each([
    ['canary', { canary: { percent: 0.01 } }],
    ['shadow', { shadow: true }],
  ])('what only the version of a %s reads waits as well, until it is taken back', async (kind, trial) => {
    await load(good)
    await deploy('SELECT count(*) AS total FROM sales')
    const path = `/v1/projects/${projectId}`
    await expectStatus(200, t.operator.put(`${path}/queries/total`, { sql: 'SELECT sum(amount) AS total FROM sales' }))
    const body = { queries: [{ name: 'total' }], force: true, ...trial }
    const { id } = (await expectStatus(200, t.operator.post(`${path}/releases`, body))).body
    expect((await load(spoilt)).held_because).toMatchObject({
      reason: 'breaking',
      queries: [
        { name: 'total', environments: ['production'], message: expect.stringContaining(`Version 2, a ${kind}: `) },
      ],
    })
    expect(await answer()).toEqual([{ total: 2 }])
    await expectStatus(200, t.operator.post(`${path}/releases/${id}/rollback`, {}))
    expect(await load(spoilt)).not.toHaveProperty('held_because')
  })

  test('without a reader a column widens, and narrows again when the data allows', async () => {
    const types = async () =>
      (await schema()).columns.map(({ name, type }: { name: string; type: string }) => [name, type])
    await load(good)
    await load(spoilt)
    expect(await types()).toEqual([
      ['id', 'BIGINT'],
      ['amount', 'VARCHAR'],
    ])
    const back = await load(good)
    expect(await types()).toEqual([
      ['id', 'BIGINT'],
      ['amount', 'BIGINT'],
    ])
    const object = await t.operator.get(`/v1/projects/${projectId}/data-objects/${back.data_object_id}`)
    expect(object.body.drift).toMatchObject({ changed: [{ name: 'amount', from: 'VARCHAR', to: 'BIGINT' }] })
  })

  test('a column without a value has no type yet', async () => {
    await load([{ id: 1, amount: null }])
    expect((await schema()).columns[1]).toMatchObject({ name: 'amount', type: null, declared: false })
    await deploy('SELECT max(id) AS id FROM sales', 'newest')
    expect(await load(good)).not.toHaveProperty('held_because')
    expect((await schema()).columns[1]).toMatchObject({ type: 'BIGINT' })
  })

  test('an error object where rows were waits, also when nothing reads the table', async () => {
    await load(good)
    expect((await load({ error: 'maintenance' })).held_because).toMatchObject({
      reason: 'error_object',
      message: expect.stringContaining('error') as string,
    })
    expect((await load({ id: 7, message: 'come back later' })).held_because).toMatchObject({ reason: 'error_object' })
    expect((await schema()).columns.map(({ name }: { name: string }) => name)).toEqual(['id', 'amount'])
    const paged = {
      project_id: projectId,
      datasource_id: `ds_paged_${projectId}`,
      connect_spec: { name: 'paged', id: 'http_api' },
      url: source.url,
      method: 'GET',
      pagination: { type: 'next_link', path: 'next' },
    }
    source.answer(good)
    await expectStatus(200, t.operator.post('/v1/http/execute-request', paged))
    source.answer({ error: 'maintenance' })
    const held = await expectStatus(200, t.operator.post('/v1/http/execute-request', paged))
    expect(held.body.held_because).toMatchObject({ reason: 'error_object' })
    // An empty list is data, of which less than half came; its author may say that this is fine.
    expect((await load([])).held_because).toMatchObject({ reason: 'incomplete' })
    await expectStatus(200, change({ checks: [{ type: 'row_count_share', min: 0 }] }))
    expect(await load([])).not.toHaveProperty('held_because')
  })

  test('on_breaking: serve lets it through', async () => {
    await load(good)
    await deploy('SELECT sum(amount) AS total FROM sales')
    await expectStatus(200, change({ on_breaking: 'serve' }))
    expect(await load(spoilt)).not.toHaveProperty('held_because')
    expect((await caller.post('/v1/queries/total', {})).status).toBe(400)
  })
})

describe('a contract', () => {
  test('declares, renames and describes columns from the next load on', async () => {
    await load([{ id: '1', Amt: '10', note: 'x' }])
    const columns = [
      { source_name: 'Amt', name: 'amount', type: 'decimal(10, 2)', description: 'In euros' },
      { source_name: 'later', type: 'DATE' },
    ]
    const changed = await expectStatus(200, change({ columns }))
    expect(changed.body.columns).toMatchObject([
      { name: 'id', type: 'VARCHAR', declared: false },
      {
        name: 'amount',
        source_name: 'Amt',
        type: 'DECIMAL(10,2)',
        declared: true,
        live_name: 'Amt',
        live_type: 'VARCHAR',
      },
      { name: 'note' },
      { name: 'later', type: 'DATE', declared: true, live_name: null },
    ])
    const { data_object_id: id } = await load([{ id: '1', Amt: '10.5', note: 'x' }])
    expect(await rowsOf(t.operator, projectId, id)).toEqual([{ id: '1', amount: 10.5, note: 'x', later: null }])
    await expectStatus(200, change({ columns: [{ source_name: 'Amt', name: null, type: null, description: null }] }))
    expect((await schema()).columns[1]).toMatchObject({ name: 'amount', declared: false })
  })

  test('hides a column at once, unless a deployed query reads it', async () => {
    await load(good)
    await deploy('SELECT sum(amount) AS total FROM sales')
    expect(await change({ columns: [{ source_name: 'amount', hidden: true }] })).toMatchObject({
      status: 409,
      body: { reason: 'breaking_change' },
    })
    await expectStatus(200, change({ columns: [{ source_name: 'id', hidden: true }] }))
    const preview = { name: 'all', sql: 'SELECT * FROM sales ORDER BY 1' }
    await deploy(preview.sql, preview.name)
    expect(await answer('all')).toEqual([{ amount: 10 }, { amount: 20 }])
    expect((await change({ columns: [{ source_name: 'id', name: 'Amount' }] })).status).toBe(409)
  })

  test('hold: values that do not fit wait, and any version serves in one step, forward and back', async () => {
    await load(good)
    await expectStatus(200, change({ on_mismatch: 'hold' }))
    expect((await load(spoilt)).held_because).toMatchObject({
      reason: 'type_mismatch',
      columns: [{ name: 'amount', expected: 'BIGINT', count: 1, examples: ['unknown'] }],
    })
    const act = (version: number, verb: string) => t.operator.post(`${datasource()}/versions/${version}/${verb}`)
    expect(await act(2, 'restore')).toMatchObject({ status: 409, body: { reason: 'never_served' } })
    expect((await expectStatus(200, act(2, 'activate'))).body).toMatchObject({ version: 2, status: 'live' })
    await deploy('SELECT amount FROM sales ORDER BY id', 'amounts')
    expect(await answer('amounts')).toEqual([{ amount: 'unknown' }, { amount: '20' }])
    expect((await expectStatus(200, act(1, 'restore'))).body).toMatchObject({ version: 1, status: 'live' })
    expect(await answer('amounts')).toEqual([{ amount: 10 }, { amount: 20 }])
    expect((await act(9, 'activate')).status).toBe(404)
  })

  test('null: what does not fit is null, counted and kept aside', async () => {
    await load(good)
    await expectStatus(200, change({ on_mismatch: 'null' }))
    const { data_object_id: id } = await load(spoilt)
    expect(await rowsOf(t.operator, projectId, id)).toEqual([
      { id: 1, amount: null },
      { id: 2, amount: 20 },
    ])
    expect((await versions())[0]).toMatchObject({ status: 'live', rejected: { amount: 1 } })
    const objects = await t.operator.get(`/v1/projects/${projectId}/data-objects?limit=200`)
    const aside = objects.body.data.find(({ kind }: { kind: string }) => kind === 'rejected_values')
    expect(await rowsOf(t.operator, projectId, aside.id)).toEqual([{ row: 1, column: 'amount', value: 'unknown' }])
  })

  test('refuse: the load fails, says why, and leaves everything as it was', async () => {
    await load(good)
    await expectStatus(200, change({ on_mismatch: 'refuse' }))
    source.answer(spoilt)
    const input = { projectId, datasourceId: `ds_${projectId}`, url: source.url }
    expect(await execute(t.operator, input)).toMatchObject({ status: 502, body: { reason: 'type_mismatch' } })
    expect(await found()).toMatchObject({ status: 'failed', last_error: { code: 'type_mismatch' } })
    expect(await versions()).toHaveLength(1)
  })

  test('400 for a type that is none, a check without a column, and an unknown field', async () => {
    await load(good)
    expect((await change({ columns: [{ source_name: 'id', type: 'INTEGERS' }] })).status).toBe(400)
    expect((await change({ checks: [{ type: 'unique' }] })).status).toBe(400)
    expect((await change({ checks: [{ type: 'row_count_share' }] })).status).toBe(400)
    expect((await change({ on_missmatch: 'hold' })).status).toBe(400)
  })
})

describe('checks', () => {
  test.each<[string, Record<string, unknown>, unknown, string]>([
    ['not_null', { column: 'amount' }, [{ id: 1, amount: null }], 'amount is null in 1 row.'],
    ['unique', { columns: ['id'] }, [{ id: 1 }, { id: 1 }, { id: 2 }], 'id is not unique in 2 rows'],
    ['accepted_values', { column: 'amount', values: [10, 20] }, [{ id: 1, amount: 30 }], 'such as 30'],
    ['row_count_share', { min: 0.6, max: 2 }, [{ id: 1, amount: 1 }], '0.50 of them'],
    ['freshness', { column: 'at', max_age_minutes: 60 }, [{ id: 1, at: '2020-01-01T00:00:00Z' }], 'ends at 2020'],
    ['not_null', { column: 'gone' }, good, 'no column gone'],
  ])('%s holds a version that fails it', async (type, check, rows, words) => {
    await load(good)
    await expectStatus(200, change({ checks: [{ type, ...check }] }))
    const { held_because: held } = await load(rows)
    expect(held).toMatchObject({ reason: 'check_failed', checks: [{ type }] })
    expect(held.message).toContain(words)
    expect((await versions())[1]).toMatchObject({ status: 'live', version: 1 })
  })

  test('data that passes serves', async () => {
    await load(good)
    const checks = [
      { type: 'not_null', column: 'amount' },
      { type: 'unique', columns: ['id', 'amount'] },
      { type: 'accepted_values', column: 'amount', values: [10, 20] },
      { type: 'row_count_share', min: 0.5 },
      { type: 'freshness', column: 'at', max_age_minutes: 60 },
    ]
    await expectStatus(200, change({ checks }))
    expect((await schema()).checks).toEqual(checks)
    expect(await load(good.map((row) => ({ ...row, at: new Date().toISOString() })))).not.toHaveProperty('held_because')
  })
})

test('the version that serves outlasts newer ones that are held, whatever is kept', async () => {
  await t.app.jobs.start()
  await load(good)
  await expectStatus(200, t.operator.patch(datasource(), { keep_versions: 1 }))
  await deploy('SELECT sum(amount) AS total FROM sales')
  for (let round = 0; round < 3; round += 1) await load(spoilt)
  const jobs = async () => (await t.operator.get(`/v1/projects/${projectId}/jobs`)).body.data as { status: string }[]
  await expect
    .poll(async () => (await jobs()).every(({ status }) => status === 'succeeded'), { timeout: 60_000 })
    .toBe(true)
  expect((await versions()).map(({ version }: { version: number }) => version)).toEqual([4, 1])
  expect(await answer()).toEqual([{ total: 30 }])
})
