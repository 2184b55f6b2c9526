import { beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { makeTable, type Row } from '../harness/incremental.ts'
import type { Source } from '../harness/source.ts'
import { byId, merge, stageIncremental } from './incremental-stage.ts'

const stage = stageIncremental()
const { merged, failure, loads } = stage
let t: TestApp
let source: Source
let projectId: string
beforeEach(() => void ({ t, source, projectId } = stage.parts()))

describe('what an API may send', () => {
  test('a row without its key, or without the fields that the load names, fails it and changes nothing', async () => {
    const table = await merged()
    await loads(table, [{ id: 1, at: 1 }])
    const bad: Array<[unknown, string]> = [
      [
        [
          { id: null, at: 2 },
          { id: 3, at: 3 },
        ],
        '1 row has no value in the primary key (id)',
      ],
      [[{ at: 2 }], 'The rows have no id, which load.primary_key names'],
      [[{ id: 2 }], 'The rows have no at, which load.cursor.field names'],
      [{ error: 'maintenance' }, 'one object (error) where it had rows'],
    ]
    for (const [answer, message] of bad) {
      source.answer(answer)
      expect(await failure(table)).toContain(message)
    }
    expect(await table.versions()).toMatchObject([{ version: 1, last_value: '1' }])
    await loads(table, [{ id: 2, at: 2 }])
    expect(await table.rows()).toHaveLength(2)
  })

  test('one key twice in an answer is one row, the newest by the cursor; values out of order move it to the largest', async () => {
    const table = await merged()
    await loads(table, [
      { id: 1, at: 9, name: 'new' },
      { id: 1, at: 3, name: 'old' },
      { id: 2, at: 5, name: 'b' },
    ])
    expect(byId(await table.rows())).toEqual([
      { id: 1, at: 9, name: 'new' },
      { id: 2, at: 5, name: 'b' },
    ])
    await loads(table, [{ id: 3, at: 4, name: 'late' }])
    expect((await table.versions())[0]).toMatchObject({ last_value: '9', row_count: 3 })
  })

  test('a column that every row had and none that joins has is held where a query reads it; one that rows did without is not', async () => {
    const table = await merged()
    await loads(table, [
      { id: 1, at: 1, amount: 5, note: 'x' },
      { id: 2, at: 2, amount: 7 },
    ])
    await loads(table, [{ id: 2, at: 3 }])
    // Nobody reads it, so nothing breaks.
    expect((await table.versions())[0]).toMatchObject({ version: 2, status: 'live' })
    await loads(table, [{ id: 2, at: 4, amount: 8 }])
    const queries = `/v1/projects/${projectId}/queries`
    const sql = 'SELECT sum(amount) AS total, max(note) AS note FROM orders'
    await expectStatus(201, t.operator.post(queries, { name: 'total', sql }))
    await expectStatus(200, t.operator.post(`${queries}/total/deploy`, {}))
    await loads(table, [{ id: 3, at: 5 }])
    const [newest] = await table.versions()
    expect(newest).toMatchObject({ version: 4, status: 'held', held_because: { reason: 'breaking' } })
    expect(JSON.stringify(newest)).toContain('The new rows have no amount, which every row had so far')
    expect(byId(await table.rows()).map(({ amount }) => amount)).toEqual([5, 8])
    await loads(table, [{ id: 3, at: 5, amount: 1 }])
    expect((await table.versions())[0]).toMatchObject({ version: 5, status: 'live', row_count: 3 })
    // Only some rows had a note: a load without it is as good as any.
    await loads(table, [{ id: 4, at: 6, amount: 2 }])
    expect((await table.versions())[0]).toMatchObject({ version: 6, status: 'live', row_count: 4 })
  })

  test('a marker that no row has deletes nothing', async () => {
    const table = await merged({ ...merge, delete_marker: { field: 'deleted_at', value: 'yes' } })
    await loads(table, [{ id: 1, at: 1 }], [{ id: 2, at: 2 }])
    expect(await table.rows()).toHaveLength(2)
  })

  test('keys that turn from numbers into words still find their rows', async () => {
    const table = await merged({ mode: 'merge', primary_key: ['id'] })
    await loads(
      table,
      [1, 2, 3].map((id) => ({ id, name: `a${id}` })),
    )
    await loads(table, [
      { id: '2', name: 'b2' },
      { id: 'x', name: 'bx' },
    ])
    expect(byId(await table.rows())).toEqual([
      { id: '1', name: 'a1' },
      { id: '2', name: 'b2' },
      { id: '3', name: 'a3' },
      { id: 'x', name: 'bx' },
    ])
  })

  test('types only widen: whole numbers stay among fractions, fields may come and go, objects grow', async () => {
    const table = await merged({ mode: 'append' })
    await loads(
      table,
      [{ n: 1.25, at: '2026-01-02T03:04:05Z', o: { a: 1, b: 'x' } }],
      [{ n: 2, at: '2026-02-03', o: { a: 2 }, more: true }],
      [{ n: 3, o: { a: 2.5, c: [1] } }],
    )
    const schema = await expectStatus(200, t.operator.get(`${table.path}/schema`))
    const types = Object.fromEntries(
      schema.body.columns.map(({ name, type }: { name: string; type: string }) => [name, type]),
    )
    expect(types).toMatchObject({ n: 'DECIMAL(18,2)', at: 'TIMESTAMP', more: 'BOOLEAN' })
    expect(await table.rows()).toEqual([
      { n: 1.25, at: '2026-01-02T03:04:05Z', o: { a: 1, b: 'x', c: null }, more: null },
      { n: 2, at: '2026-02-03T00:00:00Z', o: { a: 2, b: null, c: null }, more: true },
      { n: 3, at: null, o: { a: 2.5, b: null, c: [1] }, more: null },
    ])
    await loads(table, [{ n: 4, at: 'unknown' }])
    expect((await table.rows()).map(({ at }) => at)).toEqual([
      '2026-01-02T03:04:05Z',
      '2026-02-03T00:00:00Z',
      null,
      'unknown',
    ])
  })

  test('columns that are called like ours are columns like others', async () => {
    const table = await merged({ mode: 'merge', primary_key: ['rowid'] })
    const row = { rowid: 1, position: 7, place: 2, 'sluice:position': 'p', 'sluice:row': 'r', file_row_number: 5 }
    await loads(table, [row, { ...row, rowid: 2 }], [{ ...row, rowid: 2, position: 8 }])
    const found = (await table.rows()).toSorted((left, right) => Number(left['rowid']) - Number(right['rowid']))
    expect(found).toMatchObject([
      { rowid: 1, position: 7, place: 2, file_row_number: 5 },
      { rowid: 2, position: 8 },
    ])
    expect(Object.values(found[0] ?? {})).toEqual(expect.arrayContaining(['p', 'r']))
  })

  test('a load that is cut short moves the cursor only where its rows came in order', async () => {
    const pagination = { type: 'offset', limit: 2, max_pages: 2 }
    const answer = (rows: Row[]) =>
      source.handle((request, response) => {
        const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('offset'))
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows.slice(from, from + 2)))
      })
    const falling = [9, 8, 7, 6, 5, 4].map((at) => ({ id: at, at }))
    answer(falling)
    const table = await merged(merge, { pagination })
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    expect(await table.versions()).toMatchObject([{ truncated: true, last_value: null, row_count: 4 }])
    const rowsOnly = await merged({ mode: 'append', cursor: { field: 'at' } }, { pagination, name: 'Falling' })
    expect(await failure(rowsOnly)).toContain('not in the order of at')
    answer(falling.toReversed())
    const rising = await merged({ mode: 'append', cursor: { field: 'at' } }, { pagination, name: 'Rising' })
    expect(await rising.refresh()).toMatchObject({ status: 'succeeded' })
    expect(await rising.versions()).toMatchObject([{ truncated: true, last_value: '7' }])
  })
})

describe('what costs nothing', () => {
  test('304 makes no version and the data is as fresh as the answer; another answer is a version', async () => {
    let [etag, body] = ['"one"', [{ id: 1 }]]
    source.handle((request, response) => {
      const isKnown = request.headers['if-none-match'] === etag
      response.writeHead(isKnown ? 304 : 200, {
        'content-type': 'application/json',
        etag,
        'last-modified': 'Sun, 15 Nov 2026 10:00:00 GMT',
      })
      response.end(isKnown ? undefined : JSON.stringify(body))
    })
    const table = await makeTable(t, projectId, { config: { url: source.url, method: 'GET' } })
    await table.refresh()
    const before = (await expectStatus(200, t.operator.get(table.path))).body.refreshed_at
    t.advance(60_000)
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    expect(source.requests.map(({ headers }) => [headers['if-none-match'], headers['if-modified-since']])).toEqual([
      [undefined, undefined],
      ['"one"', 'Sun, 15 Nov 2026 10:00:00 GMT'],
    ])
    const after = (await expectStatus(200, t.operator.get(table.path))).body
    expect(Date.parse(after.refreshed_at)).toBeGreaterThan(Date.parse(before) + 50_000)
    expect(await table.versions()).toMatchObject([{ version: 1, checked_at: after.refreshed_at }])
    expect((await t.app.catalogs.get(projectId)).asOf.get(after.table_name)?.toISOString()).toBe(after.refreshed_at)
    await table.refresh(true)
    expect(source.requests.at(-1)?.headers['if-none-match']).toBeUndefined()
    ;[etag, body] = ['"two"', [{ id: 1 }, { id: 2 }]]
    await table.refresh()
    expect(await table.rows()).toHaveLength(2)
  })

  test('of a list in pages the first does not speak for the others', async () => {
    let pages = [[{ id: 1 }], [{ id: 2 }]]
    source.handle((request, response) => {
      const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'))
      const isKnown = request.headers['if-none-match'] === '"same"'
      response.writeHead(isKnown ? 304 : 200, {
        'content-type': 'application/json',
        etag: '"same"',
        'x-total-count': '2',
      })
      response.end(isKnown ? undefined : JSON.stringify(pages[page - 1] ?? []))
    })
    const table = await makeTable(t, projectId, {
      config: { url: source.url, method: 'GET' },
      pagination: { type: 'page' },
    })
    expect(await table.refresh()).toMatchObject({ details: { estimate: { rows: 2, from: 'total' } } })
    pages = [[{ id: 1 }], [{ id: 2 }], [{ id: 3 }]]
    await table.refresh()
    expect(await table.rows()).toHaveLength(3)
  })
})
