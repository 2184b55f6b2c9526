import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReadInput } from '../../server/data/index.ts'
import { eventually, openFixture, runSql, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

/** One place for a call, so that whatever comes meanwhile waits and goes together. */
beforeAll(async () => {
  fixture = await openFixture({ executors: 1, spareExecutors: 1, concurrencyPerExecutor: 1 })
  const parquetPath = join(fixture.dir, 'products.parquet')
  const nativePath = join(fixture.dir, 'products.duckdb')
  await runSql(`COPY (SELECT i::BIGINT AS id, 'sku ' || i AS "Sku", i % 7 AS shelf, {'id': i + 1} AS box,
    CASE WHEN i = 66 THEN 'no number' ELSE i::VARCHAR END AS weight FROM range(6000) t(i))
    TO '${parquetPath}' (FORMAT parquet)`)
  await fixture.engine.buildNative({ parquetPath, nativePath })
  fixture.catalog.tables.push({
    name: 'products',
    parquetPath,
    nativePath,
    columns: [
      { name: 'id', type: 'BIGINT' },
      { name: 'Sku', type: 'VARCHAR' },
      { name: 'shelf', type: 'BIGINT' },
      { name: 'box', type: 'STRUCT(id BIGINT)' },
      { name: 'weight', type: 'VARCHAR' },
    ],
  })
})

afterAll(() => fixture.close())

const limits = { maxRows: 1_000, maxBytes: 1_000_000 }
type Values = (number | string | null)[]

const slotOf = (name: string, value: number | string | null): ReadInput['slots'] => [
  { name, type: typeof value === 'string' ? 'string' : 'integer', value },
]

function read(sql: string, slots: ReadInput['slots'], more: Partial<ReadInput> = {}) {
  return fixture.engine.read('project', fixture.catalog, { sql, slots, ...limits, ...more })
}

/** The rows for each value, asked for at once; and how many calls the largest execution answered. */
async function ask(sql: string, values: Values, slot = 'id'): Promise<{ rows: unknown[]; together: number }> {
  // The first call says what the statement is; the second keeps the place busy while the others come.
  await read(sql, slotOf(slot, values[0] ?? null)).catch(() => undefined)
  const answers = await Promise.all(values.map((value) => read(sql, slotOf(slot, value))))
  const rows = answers.map(({ bytes }) => JSON.parse(bytes.toString()) as unknown)
  return { rows, together: Math.max(...answers.map(({ together }) => together)) }
}

async function askOneByOne(sql: string, values: Values, slot = 'id'): Promise<unknown[]> {
  const rows: unknown[] = []
  for (const value of values) rows.push(JSON.parse((await read(sql, slotOf(slot, value))).bytes.toString()))
  return rows
}

const someIds: Values = [5, 17, 5, 999_999, 42, null, 5_999, 0, 3, -1]

describe('calls that look up a row by its key go together', () => {
  test.each([
    'SELECT * FROM products WHERE id = $id',
    'select "Sku" AS name, shelf * 2 AS double, upper("Sku") FROM products p WHERE p.id = $id AND shelf <> 3 LIMIT 1;',
    'SELECT id, box FROM products WHERE shelf < 6 AND products.id=$ID -- the key',
    'SELECT CASE WHEN shelf = 1 THEN NULL ELSE id END AS maybe FROM products WHERE id = $id',
  ])('%s', async (sql) => {
    const { rows, together } = await ask(sql, someIds)
    expect(together).toBeGreaterThan(2)
    expect(rows).toEqual(await askOneByOne(sql, someIds))
  })

  test('by text as well, whatever the name', async () => {
    const sql = 'SELECT id FROM products WHERE "Sku" = $sku'
    const values: Values = ['sku 1', 'sku 2', 'SKU 2', '', "sku' OR 1=1", 'sku 5999']
    const { rows, together } = await ask(sql, values, 'sku')
    expect(together).toBeGreaterThan(2)
    expect(rows).toEqual([[{ id: 1 }], [{ id: 2 }], [], [], [], [{ id: 5999 }]])
  })

  test('more than one search holds', async () => {
    const values = Array.from({ length: 100 }, (_, index) => index * 3)
    const { rows } = await ask('SELECT id FROM products WHERE id = $id', values)
    expect(rows).toEqual(values.map((id) => [{ id }]))
  })

  test('as lines', async () => {
    const sql = 'SELECT id FROM products WHERE id = $id'
    await read(sql, slotOf('id', 1), { format: 'ndjson' })
    const answers = await Promise.all([1, 70_000, 2, 3].map((id) => read(sql, slotOf('id', id), { format: 'ndjson' })))
    expect(answers.map(({ bytes }) => bytes.toString())).toEqual(['{"id":1}\n', '', '{"id":2}\n', '{"id":3}\n'])
  })
})

describe('what is no such lookup goes by itself', () => {
  test.each([
    'SELECT count(*) AS n FROM products WHERE id = $id',
    'SELECT DISTINCT shelf FROM products WHERE id = $id',
    'SELECT id, row_number() OVER () AS place FROM products WHERE id = $id',
    'SELECT id FROM products WHERE id = $id OR shelf = 1',
    'SELECT id FROM products WHERE NOT id = $id LIMIT 3',
    'SELECT id FROM products WHERE id = $id LIMIT 0',
    'SELECT id FROM products WHERE id = $id OFFSET 1',
    'SELECT shelf FROM products WHERE shelf = $id ORDER BY 1 LIMIT 2',
    'SELECT id FROM products WHERE box.id = $id',
    'SELECT id FROM products WHERE id = $id + 1',
    'SELECT id, $id AS asked FROM products WHERE id = $id',
    'SELECT id, (SELECT max(id) FROM products) AS most FROM products WHERE id = $id',
    'SELECT a.id FROM products a, orders b WHERE a.id = $id AND b.id = a.id',
    'WITH p AS (SELECT * FROM products) SELECT id FROM p WHERE id = $id',
    'SELECT id FROM products WHERE id = $id UNION ALL SELECT -1',
    'SELECT id FROM products t(shelf, sku, id) WHERE id = $id',
    'SELECT unnest([id, id]) AS twice FROM products WHERE id = $id',
    'SELECT id FROM orders WHERE id = $id',
  ])('%s', async (sql) => {
    const { rows, together } = await ask(sql, someIds)
    expect(together).toBe(1)
    expect(rows).toEqual(await askOneByOne(sql, someIds))
  })

  test('what differs from one time to the next', async () => {
    const { together } = await ask('SELECT id, random() AS chance FROM products WHERE id = $id', [1, 2, 3, 4])
    expect(together).toBe(1)
  })
})

describe('one of them never costs another', () => {
  test('a row that fails fails its own call', async () => {
    const sql = 'SELECT weight::INTEGER AS grams FROM products WHERE id = $id'
    await read(sql, slotOf('id', 1))
    const outcomes = await Promise.allSettled([1, 2, 66, 3].map((id) => read(sql, slotOf('id', id))))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  })

  test('a value of the wrong kind fails its own call', async () => {
    const sql = 'SELECT id FROM products WHERE id = $id'
    await read(sql, slotOf('id', 1))
    const calls = [slotOf('id', 1), [{ name: 'id', type: 'integer' as const, value: 'one' }], slotOf('id', 3)]
    const outcomes = await Promise.allSettled([...calls, ...calls].map((slots) => read(sql, slots)))
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, false, true])
  })

  test('a number too large for the key finds nothing', async () => {
    const sql = 'SELECT id FROM products WHERE id = $id'
    const huge = [{ name: 'id', type: 'integer' as const, value: '170141183460469231731687303715884105727' }]
    await read(sql, slotOf('id', 1))
    const answers = await Promise.all([slotOf('id', 1), huge, slotOf('id', 2), huge].map((slots) => read(sql, slots)))
    expect(answers.map(({ rowCount }) => rowCount)).toEqual([1, 0, 1, 0])
  })

  test('who leaves leaves alone', async () => {
    const sql = 'SELECT id FROM products WHERE id = $id'
    await read(sql, slotOf('id', 1))
    const leaving = new AbortController()
    const calls = Array.from({ length: 40 }, (_, id) =>
      read(sql, slotOf('id', id), id % 10 === 3 ? { signal: leaving.signal } : {}),
    )
    leaving.abort(new Error('left'))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(4)
  })

  test('an executor that dies under them costs them a second try', async () => {
    const sql = 'SELECT id FROM products WHERE id = $id'
    await read(sql, slotOf('id', 1))
    const calls = Array.from({ length: 20 }, (_, id) => read(sql, slotOf('id', id)))
    await eventually(() => fixture.engine.health().executors.some(({ calls: running }) => running > 0))
    for (const { pid } of fixture.engine.health().executors) if (pid !== null) process.kill(pid, 'SIGKILL')
    const answers = await Promise.all(calls)
    expect(answers.map(({ rowCount }) => rowCount)).toEqual(Array.from({ length: 20 }, () => 1))
    // Every place is free again.
    const { rows } = await ask(sql, [7, 8, 9, 10])
    expect(rows).toHaveLength(4)
    expect(fixture.engine.health().waiting).toBe(0)
  })

  test('a larger row than allowed is refused alone', async () => {
    const sql = "SELECT repeat('x', shelf::INTEGER * 100) AS text FROM products WHERE id = $id"
    await read(sql, slotOf('id', 0))
    const outcomes = await Promise.allSettled([0, 1, 6, 7].map((id) => read(sql, slotOf('id', id), { maxBytes: 300 })))
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true])
  })
})
