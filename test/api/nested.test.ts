import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { makeTable, type LoadedTable } from '../harness/incremental.ts'
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

const config = () => ({ url: source.url, method: 'GET' })
const setColumns = (table: LoadedTable, columns: object[], status = 200) =>
  expectStatus(status, t.operator.patch(`${table.path}/schema`, { columns }))
const order = (id: number, at: string, more: object = {}) => ({
  key: { id },
  meta: { updated: at },
  supplier: { name: `S${id}`, email: `s${id}@mail.example` },
  ...more,
})

describe('a value inside an object', () => {
  test('is key and cursor of an incremental load', async () => {
    const load = { mode: 'merge', primary_key: ['key.id'], cursor: { field: 'meta.updated', parameter: 'since' } }
    const table = await makeTable(t, projectId, { config: config(), load })
    source.answer([order(1, '2026-01-01 10:00:00.5Z'), order(2, '2026-01-02 10:00:00.5Z')])
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    source.answer([order(2, '2026-01-03 10:00:00.5Z'), order(3, '2026-01-04 10:00:00.5Z')])
    await table.refresh()
    // As the API wrote it.
    expect(new URL(source.requests.at(-1)?.url ?? '', 'http://x').searchParams.get('since')).toBe(
      '2026-01-02 10:00:00.5Z',
    )
    const rows = await table.rows()
    expect(rows.map(({ key_id: id }) => id).toSorted()).toEqual([1, 2, 3])
    expect(rows.find(({ key_id: id }) => id === 2)).toMatchObject({
      meta: { updated: expect.stringContaining('2026-01-03') },
    })
    expect((await table.versions())[0]).toMatchObject({ new_rows: 2, row_count: 3 })
  })

  test('becomes a column by a rule, of which a slot takes its values', async () => {
    const table = await makeTable(t, projectId, { table_name: 'orders', config: config() })
    source.answer([order(1, 'a'), order(2, 'b'), order(2, 'c')])
    const { body } = await setColumns(table, [{ source_name: 'supplier.name', description: 'Who delivers' }])
    expect(body.columns).toMatchObject([{ source_name: 'supplier.name', name: 'supplier_name', live_name: null }])
    await table.refresh()
    await table.settled()
    expect((await table.rows()).map(({ supplier_name: name }) => name)).toEqual(['S1', 'S2', 'S2'])
    const slot = { type: 'string', 'x-values-from': 'orders.supplier.name' }
    const query = {
      name: 'of_supplier',
      sql: 'select * from orders where supplier_name = $who',
      slots: { type: 'object', properties: { who: slot }, required: ['who'] },
    }
    await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/queries`, query))
    const values = await t.app.catalogs.valuesOf(projectId, new Set(['orders.supplier.name']))
    expect(values).toEqual({ 'orders.supplier.name': ['S2', 'S1'] })
  })
})

describe('a list inside a row', () => {
  const lists = (id: number, ...skus: string[]) => ({ id, cart: { lines: skus.map((sku) => ({ sku, id: 1 })) } })
  const child = (body: Record<string, unknown>, status = 201) =>
    expectStatus(status, t.operator.post(`/v1/projects/${projectId}/models/from-list`, body))
  const rowsOf = async (sql: string) =>
    (await expectStatus(200, t.operator.post(`/v1/projects/${projectId}/queries/run`, { sql, parameters: {} }))).body
      .data

  test('becomes a table with the key of its row, and follows it', async () => {
    const table = await makeTable(t, projectId, { table_name: 'orders', config: config() })
    source.answer([lists(1, 'a', 'b'), lists(2), lists(3, 'c')])
    await table.refresh()
    const { body } = await child({ table: 'orders', column: 'cart.lines' })
    expect(body).toMatchObject({ name: 'orders_cart_lines', reads: ['orders'] })
    await table.settled()
    const all = 'select * from orders_cart_lines order by 1, 2'
    expect(await rowsOf(all)).toEqual([
      { orders_id: 1, position: 1, sku: 'a', id: 1 },
      { orders_id: 1, position: 2, sku: 'b', id: 1 },
      { orders_id: 3, position: 1, sku: 'c', id: 1 },
    ])
    source.answer([lists(1), lists(2), lists(4, 'd')])
    await table.refresh()
    await table.settled()
    expect(await rowsOf(all)).toEqual([{ orders_id: 4, position: 1, sku: 'd', id: 1 }])
  })

  test('keeps the type of its members while all lists are empty', async () => {
    const table = await makeTable(t, projectId, { table_name: 'orders', config: config() })
    source.answer([{ id: 1, lines: [{ sku: 'a' }], tags: ['x'] }])
    await table.refresh()
    await child({ table: 'orders', column: 'lines' })
    await child({ table: 'orders', column: 'tags', name: 'order_tags' })
    await table.settled()
    expect(await rowsOf('select * from order_tags')).toEqual([{ orders_id: 1, position: 1, value: 'x' }])
    source.answer([{ id: 1, lines: [], tags: [] }])
    await table.refresh()
    await table.settled()
    expect(await rowsOf('select count(*)::int as n from orders_lines')).toEqual([{ n: 0 }])
    const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/models/orders_lines`))
    expect(body).toMatchObject({ status: 'ready', problem: null })
  })

  test('what is no list, and a table without a key, are refused with what to do', async () => {
    const table = await makeTable(t, projectId, { table_name: 'orders', config: config() })
    source.answer([{ number: 1, lines: [{ sku: 'a' }] }])
    await table.refresh()
    const refusal = async (body: Record<string, unknown>) => (await child(body, 400)).body.message
    expect(await refusal({ table: 'orders', column: 'lines' })).toContain('key is required')
    expect(await refusal({ table: 'orders', column: 'number', key: ['number'] })).toContain('no list')
    expect(await refusal({ table: 'orders', column: 'nothing', key: ['number'] })).toContain('does not have')
    expect(await refusal({ table: 'others', column: 'lines' })).toContain('no data yet')
  })
})

describe('on load', () => {
  test('columns are dropped and hashed before anything is stored, and equal values stay equal', async () => {
    const table = await makeTable(t, projectId, { config: config() })
    const answer = [order(1, 'a', { email: 'x@y.z', note: 'n', lines: [{ email: 'x@y.z', sku: 7 }] })]
    source.answer(answer)
    await setColumns(table, [
      { source_name: 'note', on_load: 'drop' },
      { source_name: 'email', on_load: 'hash' },
      { source_name: 'supplier.email', on_load: 'drop' },
      { source_name: 'lines.*.email', on_load: 'hash' },
    ])
    await table.refresh()
    const [row] = await table.rows()
    const email = String(row?.['email'])
    expect(email).toMatch(/^[0-9a-f]{64}$/)
    // A plain hash of an address is found by trying addresses.
    expect(email).not.toBe(createHash('sha256').update('x@y.z').digest('hex'))
    expect(row).toEqual({
      key: { id: 1 },
      meta: { updated: 'a' },
      supplier: { name: 'S1' },
      email,
      lines: [{ email, sku: 7 }],
    })
  })

  test('the same value in CSV has the same hash, and a column that is gone is not there', async () => {
    const json = await makeTable(t, projectId, { config: config() })
    const csv = await makeTable(t, projectId, { config: config() })
    const rules = [
      { source_name: 'email', on_load: 'hash' },
      { source_name: 'note', on_load: 'drop' },
    ]
    for (const table of [json, csv]) await setColumns(table, rules)
    source.answer([
      { id: 1, email: 'ä "q"@y.z', note: 'n' },
      { id: 2, email: null, note: 'm' },
    ])
    await json.refresh()
    source.answer('id,email,note\n1,"ä ""q""@y.z",n\n2,,m\n', { 'content-type': 'text/csv' })
    await csv.refresh()
    expect(await csv.rows()).toEqual(await json.rows())
    expect(Object.keys((await csv.rows())[0] ?? {})).toEqual(['id', 'email'])
  })

  test('a rule that comes later loads everything anew, so that nothing of before is joined', async () => {
    const load = { mode: 'append', primary_key: ['id'] }
    const table = await makeTable(t, projectId, { config: config(), load })
    source.answer([{ id: 1, email: 'a' }])
    await table.refresh()
    await setColumns(table, [{ source_name: 'email', on_load: 'hash' }])
    source.answer([
      { id: 1, email: 'a' },
      { id: 2, email: 'b' },
    ])
    await table.refresh()
    const rows = await table.rows()
    expect(rows.map(({ id }) => id)).toEqual([1, 2])
    for (const { email } of rows) expect(email).toMatch(/^[0-9a-f]{64}$/)
    // From now on rows join again.
    source.answer([{ id: 3, email: 'a' }])
    await table.refresh()
    const all = await table.rows()
    expect(all).toHaveLength(3)
    expect(all.find(({ id }) => id === 3)?.['email']).toBe(all.find(({ id }) => id === 1)?.['email'])
  })

  test('rules that nothing could follow are refused with a reason', async () => {
    const load = { mode: 'merge', primary_key: ['id'], cursor: { field: 'at', parameter: 'since' } }
    const table = await makeTable(t, projectId, { config: config(), load })
    const refusal = async (rule: object) => (await setColumns(table, [rule], 400)).body.message
    expect(await refusal({ source_name: 'id', on_load: 'drop' })).toContain('tells a row')
    expect(await refusal({ source_name: 'at', on_load: 'hash' })).toContain('is the cursor')
    expect(await refusal({ source_name: 'n', on_load: 'hash', type: 'BIGINT' })).toContain('makes it VARCHAR')
    expect(await refusal({ source_name: 'a.*..b', on_load: 'drop' })).toContain('key path')
  })

  test('a definition has the rules and puts them back', async () => {
    const table = await makeTable(t, projectId, { table_name: 'orders', config: config() })
    await setColumns(table, [
      { source_name: 'email', on_load: 'hash', name: 'mail' },
      { source_name: 'supplier.name', name: 'vendor' },
    ])
    const path = `/v1/projects/${projectId}/definition`
    const { body } = await expectStatus(200, t.operator.get(path))
    expect(body.connections[0].schema.columns).toMatchObject([
      { source_name: 'email', name: 'mail', on_load: 'hash' },
      { source_name: 'supplier.name', name: 'vendor' },
    ])
    const again = await expectStatus(200, t.operator.put(path, { definition: 1, connections: body.connections }))
    expect(again.body.plan.filter(({ action }: { action: string }) => action !== 'unchanged')).toEqual([])
    body.connections[0].schema.columns[0].on_load = 'drop'
    delete body.connections[0].schema.columns[0].name
    await expectStatus(200, t.operator.put(path, { definition: 1, connections: body.connections }))
    source.answer([order(1, 'a', { email: 'x' })])
    await table.refresh()
    expect(Object.keys((await table.rows())[0] ?? {})).toEqual(['key', 'meta', 'supplier', 'vendor'])
  })
})
