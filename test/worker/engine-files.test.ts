import { join } from 'node:path'
import { stat } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFixture, runSql, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
let parquetPath: string

beforeAll(async () => {
  fixture = await openFixture()
  parquetPath = join(fixture.dir, 'people.parquet')
  await runSql(`COPY (SELECT i::BIGINT AS id, 'person' || i || '@example.org' AS email, 'https://example.org/' || i AS page,
    ['DE', 'FR', 'US'][1 + (i % 3)::INT] AS country, ['Germany', 'France'][1 + (i % 2)::INT] AS home,
    ['EUR', 'USD'][1 + (i % 2)::INT] AS paid_in, (i * 0.25)::DECIMAL(18,2) AS price, DATE '2024-01-01' + (i % 100)::INT AS joined,
    CASE WHEN i % 10 = 0 THEN NULL ELSE 'word ' || (i % 7) END AS note, [i] AS list, (i % 31 + 1) || '/12/2024' AS seen
    FROM range(6000) t(i)) TO '${parquetPath}' (FORMAT parquet)`)
})
afterAll(() => fixture.close())

describe('a profile', () => {
  test('says what each column holds', async () => {
    const { rowCount, columns } = await fixture.engine.profile({ parquetPath })
    const by = Object.fromEntries(columns.map((column) => [column.name, column]))
    expect(rowCount).toBe(6_000)
    expect(by['id']).toMatchObject({
      type: 'BIGINT',
      nullCount: 0,
      distinctCount: 6_000,
      distinctIsExact: true,
      min: '0',
      max: '5999',
      looksLike: 'identifier',
    })
    expect(by['note']).toMatchObject({ nullCount: 600, distinctCount: 7, looksLike: null })
    expect(by['note']?.topValues[0]?.count).toBeGreaterThan(700)
    expect(by['id']?.histogram).toHaveLength(20)
    expect(by['id']?.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(6_000)
    expect(by['joined']?.histogram[0]).toMatchObject({ from: Date.UTC(2024, 0, 1) / 1000 })
    const looks = Object.fromEntries(columns.map(({ name, looksLike }) => [name, looksLike]))
    expect(looks).toMatchObject({
      email: 'email',
      page: 'url',
      country: 'country',
      home: 'country',
      paid_in: 'currency',
      price: 'currency',
      joined: 'date',
      seen: 'date',
      list: null,
    })
  })

  test('of an empty file is empty', async () => {
    const empty = join(fixture.dir, 'empty.parquet')
    await runSql(`COPY (SELECT 1 AS a, 'x' AS b WHERE false) TO '${empty}' (FORMAT parquet)`)
    const { rowCount, columns } = await fixture.engine.profile({ parquetPath: empty })
    expect(rowCount).toBe(0)
    expect(columns).toMatchObject([
      { name: 'a', nullCount: 0, distinctCount: 0, min: null, histogram: [] },
      { name: 'b', topValues: [] },
    ])
  })

  test('has a deadline', async () => {
    const slow = join(fixture.dir, 'slow.parquet')
    await runSql(`COPY (SELECT i AS a, i || 'x' AS b FROM range(1000000) t(i)) TO '${slow}' (FORMAT parquet)`)
    await expect(fixture.engine.profile({ parquetPath: slow }, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'query_timeout',
    })
  })
})

describe('thousands of columns', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `c${index}`)
  let wide: string

  beforeAll(async () => {
    wide = join(fixture.dir, 'wide.parquet')
    const columns = names.map((name, index) => (index % 2 === 0 ? `i + ${index} AS ${name}` : `'v' || i AS ${name}`))
    await runSql(`COPY (SELECT ${columns.join(', ')} FROM range(3) t(i)) TO '${wide}' (FORMAT parquet)`)
  })

  test('are described in seconds, each of them', async () => {
    const { columns } = await fixture.engine.profile({ parquetPath: wide }, { timeoutMs: 25_000 })
    expect(columns.map(({ name }) => name)).toEqual(names)
    expect(columns[1_998]).toMatchObject({ nullCount: 0, distinctCount: 3, min: '1998', max: '2000' })
    expect(columns[1]).toMatchObject({ topValues: [{ value: 'v0' }, { value: 'v1' }, { value: 'v2' }] })
  })

  test('give their values', async () => {
    const call = { parquetPath: wide, columns: names.filter((_, index) => index % 2 === 1), cap: 2 }
    const found = await fixture.engine.distinctValues(call, { timeoutMs: 25_000 })
    expect(found).toHaveLength(1_000)
    const values = ['v0', 'v1'].map((value) => ({ value, count: 1 }))
    expect(new Set(found.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ values, capped: true })]),
    )
  })

  test('have a native copy that fits the memory', async () => {
    const nativePath = join(fixture.dir, 'wide.duckdb')
    await fixture.engine.buildNative({ parquetPath: wide, nativePath })
    const catalog = { version: 'wide', tables: [{ name: 'wide', parquetPath: wide, nativePath, columns: [] }] }
    const sql = 'SELECT c1999, sum(c1998) OVER () AS total FROM wide LIMIT 1'
    const { bytes } = await fixture.engine.read('wide', catalog, { sql, slots: [], maxRows: 10, maxBytes: 1e6 })
    expect(JSON.parse(bytes.toString())).toEqual([{ c1999: 'v0', total: 5_997 }])
  })
})

describe('a native copy', () => {
  test('answers the same as the file, and has an index on what is unique', async () => {
    const { engine, dir } = fixture
    const nativePath = join(dir, 'people.duckdb')
    const { sizeBytes } = await engine.buildNative({ parquetPath, nativePath })
    expect(sizeBytes).toBe((await stat(nativePath)).size)
    await expect(stat(`${nativePath}.partial`)).rejects.toThrow('ENOENT')
    const table = { name: 'people', parquetPath, columns: [] }
    const sql = 'SELECT * FROM people ORDER BY id'
    const limits = { slots: [], maxRows: 10_000, maxBytes: 1e8 }
    const fromFile = await engine.read('a', { version: 'file', tables: [table] }, { ...limits, sql })
    const catalog = { version: 'native', tables: [{ ...table, nativePath }] }
    const fromCopy = await engine.read('a', catalog, { ...limits, sql })
    expect(fromCopy.bytes.equals(fromFile.bytes)).toBe(true)
    await runSql(
      `ATTACH '${nativePath}' AS copy (READ_ONLY); SELECT CASE WHEN string_agg(expressions) LIKE '%id%email%' THEN 1 ELSE error('index') END FROM duckdb_indexes()`,
    )
  })

  test('of a missing file fails and leaves nothing', async () => {
    const nativePath = join(fixture.dir, 'never.duckdb')
    await expect(
      fixture.engine.buildNative({ parquetPath: join(fixture.dir, 'missing.parquet'), nativePath }),
    ).rejects.toMatchObject({ code: 'internal_error' })
    await expect(stat(nativePath)).rejects.toThrow('ENOENT')
    await expect(stat(`${nativePath}.partial`)).rejects.toThrow('ENOENT')
  })
})

describe('distinct values', () => {
  test('come by frequency and say when they were capped', async () => {
    const columns = ['country', 'email']
    const [all, some] = await fixture.engine.distinctValues({ parquetPath, columns, cap: 100 })
    expect(all).toEqual({ values: ['DE', 'FR', 'US'].map((value) => ({ value, count: 2_000 })), capped: false })
    expect(some?.values).toHaveLength(100)
    expect(some?.capped).toBe(true)
  })
})
