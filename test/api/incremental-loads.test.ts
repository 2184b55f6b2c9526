import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { makeTable, type Row } from '../harness/incremental.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({}, { bounds: { outboundTries: 1 } }))
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
  source.requests.length = 0
})

const config = () => ({ url: source.url, method: 'GET', parameters: { since: { value: '{{last_value}}' } } })
const cursor = { field: 'at' }
const merge = { mode: 'merge', primary_key: ['id'], cursor }
const byId = (rows: Row[]) => rows.toSorted((left, right) => Number(left['id']) - Number(right['id']))
const asked = () => source.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('since'))

/** Rows that an API has, of which it gives those that changed at or after `since`. */
function serve(rows: Row[]): void {
  source.handle((request, response) => {
    const since = new URL(request.url ?? '', 'http://x').searchParams.get('since')
    const found = rows.filter(({ at }) => since === null || Number(at) >= Number(since))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
  })
}

describe('merge', () => {
  test('upserts by key, asks from the last value on, and leaves every version as it was', async () => {
    const table = await makeTable(t, projectId, { config: config(), load: merge })
    serve([
      { id: 1, at: 1, name: 'a' },
      { id: 2, at: 2, name: 'b' },
    ])
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    serve([
      { id: 1, at: 3, name: 'A' },
      { id: 2, at: 2, name: 'b' },
      { id: 3, at: 4, name: 'c' },
    ])
    await table.refresh()
    expect(asked()).toEqual([null, '2'])
    expect(byId(await table.rows())).toEqual([
      { id: 1, at: 3, name: 'A' },
      { id: 2, at: 2, name: 'b' },
      { id: 3, at: 4, name: 'c' },
    ])
    expect(byId(await table.rows(1))).toEqual([
      { id: 1, at: 1, name: 'a' },
      { id: 2, at: 2, name: 'b' },
    ])
    expect(await table.versions()).toMatchObject([
      { version: 2, mode: 'merge', row_count: 3, new_rows: 2, last_value: '4', loads: [1, 2] },
      { version: 1, row_count: 2, new_rows: 2, last_value: '2', loads: [1] },
    ])
  })

  test('deletes by a marker, and a row that came again unchanged makes no version', async () => {
    const load = { ...merge, delete_marker: { field: 'gone', value: true } }
    const table = await makeTable(t, projectId, { config: config(), load })
    serve([1, 2, 3].map((id) => ({ id, at: id, gone: false })))
    await table.refresh()
    await table.refresh()
    expect(await table.versions()).toHaveLength(1)
    serve([
      { id: 2, at: 4, gone: true },
      { id: 9, at: 5, gone: true },
    ])
    await table.refresh()
    expect(byId(await table.rows()).map(({ id }) => id)).toEqual([1, 3])
    expect(await table.versions()).toMatchObject([{ version: 2, row_count: 2, last_value: '5' }, { version: 1 }])
    serve([{ id: 2, at: 6, gone: false }])
    await table.refresh()
    expect(byId(await table.rows()).map(({ id }) => id)).toEqual([1, 2, 3])
  })
})

describe('append', () => {
  test('puts rows behind those that are there; with a key, only those that are not', async () => {
    const table = await makeTable(t, projectId, { config: config(), load: { mode: 'append', cursor } })
    const keyed = await makeTable(t, projectId, {
      config: config(),
      load: { mode: 'append', primary_key: ['id'], cursor },
      name: 'Keyed',
    })
    serve([
      { id: 1, at: 1 },
      { id: 2, at: 2 },
    ])
    await table.refresh()
    await keyed.refresh()
    serve([
      { id: 2, at: 2, note: 'again' },
      { id: 3, at: 3, note: 'new' },
    ])
    await table.refresh()
    await keyed.refresh()
    expect((await table.rows()).map(({ id }) => id)).toEqual([1, 2, 2, 3])
    expect(await keyed.rows()).toEqual([
      { id: 1, at: 1, note: null },
      { id: 2, at: 2, note: null },
      { id: 3, at: 3, note: 'new' },
    ])
  })
})

test('a full load on demand takes the place of everything, and going back goes back with the last value', async () => {
  const table = await makeTable(t, projectId, { config: config(), load: merge })
  serve([{ id: 1, at: 1 }])
  await table.refresh()
  serve([{ id: 2, at: 5 }])
  await table.refresh()
  serve([{ id: 7, at: 9 }])
  await table.refresh(true)
  expect(await table.rows()).toEqual([{ id: 7, at: 9 }])
  await expectStatus(200, t.operator.post(`${table.path}/versions/1/restore`))
  serve([{ id: 8, at: 3 }])
  await table.refresh()
  expect(asked()).toEqual([null, '1', null, '1'])
  expect(byId(await table.rows())).toEqual([
    { id: 1, at: 1 },
    { id: 8, at: 3 },
  ])
})
