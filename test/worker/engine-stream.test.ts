import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReadInput } from '../../server/engine/index.ts'
import { eventually, openFixture, runSql, type Fixture } from './engine-fixture.ts'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

async function collect(sql: string, input: Partial<ReadInput> = {}) {
  const stream = await fixture.engine.stream('project', fixture.catalog, {
    sql,
    slots: [],
    maxRows: 10_000_000,
    maxBytes: 1e9,
    ...input,
  })
  const parts: Buffer[] = []
  let rowCount = 0
  for await (const chunk of stream.chunks) {
    parts.push(chunk.bytes)
    rowCount += chunk.rowCount
  }
  return { columns: stream.columns, bytes: Buffer.concat(parts), rowCount, end: stream.end() }
}

describe('a stream', () => {
  test('brings every row in order, in many parts', async () => {
    const { bytes, end, columns } = await collect('SELECT id FROM orders ORDER BY id DESC', { format: 'ndjson' })
    const ids = bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id)
    expect(ids).toEqual(Array.from({ length: 10_000 }, (_, index) => 9_999 - index))
    expect(end).toMatchObject({ rowCount: 10_000, truncated: false })
    expect(columns).toEqual([{ name: 'id', type: 'BIGINT' }])
  })

  test('says when it is cut', async () => {
    expect((await collect('SELECT id FROM orders', { maxRows: 3_000 })).end).toMatchObject({
      rowCount: 3_000,
      truncated: true,
    })
    expect((await collect('SELECT id FROM orders', { maxRows: 10_000 })).end).toMatchObject({
      rowCount: 10_000,
      truncated: false,
    })
  })

  test('of no rows has no parts and an end', async () => {
    expect(await collect('SELECT id FROM orders WHERE false')).toMatchObject({
      rowCount: 0,
      end: { rowCount: 0, truncated: false },
    })
  })

  test('that fails after many rows is an error, not an end', async () => {
    const sql = "SELECT CASE WHEN i < 900000 THEN i ELSE ('x' || i)::INTEGER END AS n FROM range(1000000) t(i)"
    await expect(collect(sql)).rejects.toMatchObject({ code: 'invalid_query' })
  })

  test('past its deadline is a timeout, not an end', async () => {
    const sql = 'SELECT count(*) AS n, a.i FROM range(100000) a(i), range(100000) b(i) GROUP BY a.i'
    await expect(collect(sql, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'query_timeout' })
    const slow = 'SELECT i FROM range(100000000000) t(i)'
    await expect(collect(slow, { timeoutMs: 500, maxRows: 1e12, maxBytes: 1e12 })).rejects.toMatchObject({
      code: 'query_timeout',
    })
  })

  test('beyond its bytes is refused without waiting for the rows after them', async () => {
    // Four chunks at once, and then nothing for many minutes. The third is too much, when the fifth is being looked for.
    const sql = "SELECT repeat('x', 100) AS x FROM range(1000000000000) t(i) WHERE i < 8192 OR i = 999999999999"
    await expect(collect(sql, { maxBytes: 600_000, timeoutMs: 600_000 })).rejects.toMatchObject({
      code: 'result_too_large',
    })
  })

  test('beyond its bytes is refused', async () => {
    await expect(collect('SELECT * FROM orders', { maxBytes: 100_000 })).rejects.toMatchObject({
      code: 'result_too_large',
    })
  })

  test('waits for a slow reader and stops for one who leaves', async () => {
    const { engine, catalog } = fixture
    const input = { sql: 'SELECT i FROM range(100000000) t(i)', slots: [], maxRows: 1e9, maxBytes: 1e12 }
    const stream = await engine.stream('project', catalog, input)
    for await (const chunk of stream.chunks) {
      expect(chunk.rowCount).toBeGreaterThan(0)
      break
    }
    await eventually(() => engine.health().executors.every(({ calls }) => calls === 0))
    expect(stream.end()).toBeNull()
  })

  test('as CSV quotes what needs it', async () => {
    const { bytes } = await collect(
      `SELECT * FROM (VALUES (1, 'a,b', NULL), (2, 'say "hi"', 1.5), (3, '', 2.5)) t(id, "text, too", v)`,
      { format: 'csv' },
    )
    expect(bytes.toString()).toBe('id,"text, too",v\r\n1,"a,b",\r\n2,"say ""hi""",1.5\r\n3,"",2.5\r\n')
    const more = await collect(
      `SELECT TIMESTAMP '2024-01-02 03:04:05' AS t, [1,2] AS l, true AS b, 'nan'::DOUBLE AS n, '2024-01-01'::DATE d`,
      { format: 'csv' },
    )
    expect(more.bytes.toString()).toBe('t,l,b,n,d\r\n2024-01-02T03:04:05Z,"[1,2]",true,,2024-01-01\r\n')
  })

  test('as Arrow is one stream that others read', async () => {
    const sql = `SELECT id, region, amount, day, placed_at, paid, CASE WHEN id % 2 = 0 THEN id END AS even, [id] AS list, 1.5::DECIMAL(4,2) AS dec FROM orders ORDER BY id`
    const { bytes, end } = await collect(sql, { format: 'arrow', maxRows: 5_000 })
    expect(end).toMatchObject({ rowCount: 5_000, truncated: true })
    const table = tableFromIPC(bytes)
    expect(table.numRows).toBe(5_000)
    expect(table.schema.fields.map((field) => String(field.type))).toEqual([
      'Int64',
      'Utf8',
      'Float64',
      'Date32<DAY>',
      'Timestamp<MICROSECOND, UTC>',
      'Bool',
      'Int64',
      'List<Int64>',
      'Decimal[4e+2]',
    ])
    const row = table.get(4_001)?.toJSON() ?? {}
    expect(row).toMatchObject({
      id: 4_001n,
      region: 'east',
      amount: 6_001.5,
      paid: false,
      even: null,
    })
    expect([...(row['list'] as Iterable<bigint>)]).toEqual([4_001n])
    expect(new Date(Number(row['day'])).toISOString()).toBe('2024-12-17T00:00:00.000Z')
    expect(new Date(Number(row['placed_at'])).toISOString()).toBe('2024-01-03T18:41:00.000Z')
    expect(tableFromIPC((await collect('SELECT id FROM orders WHERE false', { format: 'arrow' })).bytes).numRows).toBe(
      0,
    )
  })

  test('brings texts of every length, NULLs and doubles of what is there whole, in every format', async () => {
    const sql = `SELECT i, CASE WHEN i % 7 <> 3 THEN repeat('ä', i % 40) || i END AS a,
      CASE WHEN i % 5 <> 0 THEN repeat('x', 3 * (i % 9)) END AS b, repeat('same text of some length', 1) AS c,
      CASE WHEN i % 3 = 0 THEN i % 2 = 0 END AS d, CASE WHEN i % 4 = 0 THEN i / 4.0::DOUBLE END AS e
      FROM range(5000) t(i) ORDER BY i`
    const expected = Array.from({ length: 5_000 }, (_, i) => ({
      i,
      a: i % 7 === 3 ? null : `${'ä'.repeat(i % 40)}${i}`,
      b: i % 5 === 0 ? null : 'x'.repeat(3 * (i % 9)),
      c: 'same text of some length',
      d: i % 3 === 0 ? i % 2 === 0 : null,
      e: i % 4 === 0 ? i / 4 : null,
    }))
    const arrow = tableFromIPC((await collect(sql, { format: 'arrow' })).bytes)
    expect(arrow.toArray().map((row) => ({ ...row?.toJSON(), i: Number(row?.['i']) }))).toEqual(expected)
    expect(arrow.getChild('a')?.nullCount).toBe(expected.filter(({ a }) => a === null).length)
    const lines = (await collect(sql, { format: 'ndjson' })).bytes.toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(expected)
    const csv = (await collect(sql, { format: 'csv' })).bytes.toString().split('\r\n')
    const cell = (value: string | number | boolean | null): string => (value === '' ? '""' : String(value ?? ''))
    expect(csv.slice(1, -1)).toEqual(
      expected.map(({ e, ...row }) =>
        [...Object.values(row).map(cell), e === null ? '' : Number.isInteger(e) ? `${e}.0` : `${e}`].join(','),
      ),
    )
    const short = await collect('SELECT i FROM range(3000) t(i)', { format: 'json' })
    expect(short.rowCount).toBe(3_000)
    expect(short.bytes.toString().startsWith('{"i":0},{"i":1},')).toBe(true)
  })

  test('can be collected in any format', async () => {
    const { engine, catalog } = fixture
    for (const format of ['csv', 'parquet', 'arrow'] as const) {
      const answer = await engine.read('project', catalog, {
        sql: 'SELECT id FROM orders',
        slots: [],
        format,
        maxRows: 20_000,
        maxBytes: 1e7,
      })
      expect(answer).toMatchObject({ rowCount: 10_000, truncated: false })
      expect(answer.bytes.length).toBeGreaterThan(1_000)
    }
  })

  test('as Arrow and Parquet has native types, nested and wide ones too', async () => {
    const sql = `SELECT sum(id) AS total, '2024-01-02 03:04:05.678+00'::TIMESTAMPTZ AS at, -12345678901234567890.12::DECIMAL(38,2) AS wide,
      [{'a': 1, 'b': [1.5::DECIMAL(4,1), NULL], 'w': 5::HUGEINT}] AS nested, TIME '03:04:05' AS time, 'abc'::BLOB AS bytes,
      '6f8d2a1c-0000-4000-8000-000000000001'::UUID AS uid, INTERVAL 3 DAY AS span, 7::UBIGINT AS big, NULL::STRUCT(a INTEGER) AS none,
      '{"a":1}'::JSON AS js, MAP {'k': 1} AS m FROM orders WHERE id < 10`
    const table = tableFromIPC((await collect(sql, { format: 'arrow' })).bytes)
    expect(Object.fromEntries(table.schema.fields.map((field) => [field.name, String(field.type)]))).toEqual({
      total: 'Decimal[38e0]',
      at: 'Timestamp<MICROSECOND, UTC>',
      wide: 'Decimal[38e+2]',
      nested: 'List<Struct<{a:Int32, b:List<Decimal[4e+1]>, w:Decimal[38e0]}>>',
      time: 'Time64<MICROSECOND>',
      bytes: 'Binary',
      uid: 'Utf8',
      span: 'Utf8',
      big: 'Uint64',
      none: 'Struct<{a:Int32}>',
      js: 'Utf8',
      m: 'Utf8',
    })
    const row = table.get(0)?.toJSON() as Record<string, unknown>
    expect(row).toMatchObject({ big: 7n, none: null, js: '{"a":1}', m: '{"k":1}', span: '3 days' })
    expect(row['uid']).toBe('6f8d2a1c-0000-4000-8000-000000000001')
    const words = (value: unknown) => new BigInt64Array(new Uint32Array(value as Uint32Array).buffer)
    expect(words(row['total'])).toEqual(new BigInt64Array([45n, 0n]))
    const wide = words(row['wide'])
    expect(((wide[1] ?? 0n) << 64n) | BigInt.asUintN(64, wide[0] ?? 0n)).toBe(-1_234_567_890_123_456_789_012n)
    const path = join(fixture.dir, 'native.parquet')
    await writeFile(path, (await collect(sql, { format: 'parquet' })).bytes)
    await runSql(`SELECT CASE WHEN typeof(total) = 'DECIMAL(38,0)' AND total = 45 AND typeof(nested) LIKE '%w DECIMAL(38,0)%'
      AND typeof("at") = 'TIMESTAMP WITH TIME ZONE' AND typeof(wide) = 'DECIMAL(38,2)' THEN 1 ELSE error(typeof(nested)) END FROM '${path}'`)
  })

  test('as Parquet is one file', async () => {
    const slots = [{ name: 'least', type: 'integer' as const, value: 9_000 }]
    const { bytes, end } = await collect('SELECT id, region FROM orders WHERE id >= $least', {
      format: 'parquet',
      slots,
    })
    expect(bytes.subarray(0, 4).toString()).toBe('PAR1')
    expect(end).toMatchObject({ rowCount: 1_000, truncated: false })
    const path = join(fixture.dir, 'export.parquet')
    await writeFile(path, bytes)
    await runSql(`SELECT CASE WHEN count(*) = 1000 THEN 1 ELSE error('rows') END FROM '${path}'`)
  })
})
