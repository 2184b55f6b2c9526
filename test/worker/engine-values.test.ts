import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** SQL expression, and the JSON it must become. */
const values: [string, unknown][] = [
  ['NULL', null],
  ['true', true],
  ['1::TINYINT', 1],
  ['-2::SMALLINT', -2],
  ['3::INTEGER', 3],
  ['255::UTINYINT', 255],
  ['4294967295::UINTEGER', 4_294_967_295],
  ['9007199254740991::BIGINT', 9_007_199_254_740_991],
  ['9007199254740992::BIGINT', '9007199254740992'],
  ['-9007199254740991::BIGINT', -9_007_199_254_740_991],
  ['-9007199254740992::BIGINT', '-9007199254740992'],
  ['18446744073709551615::UBIGINT', '18446744073709551615'],
  ['7::UBIGINT', 7],
  ['170141183460469231731687303715884105727::HUGEINT', '170141183460469231731687303715884105727'],
  ['12::HUGEINT', 12],
  ['12::UHUGEINT', 12],
  ['340282366920938463463374607431768211455::UHUGEINT', '340282366920938463463374607431768211455'],
  ['12::BIGNUM', 12],
  ["'123456789012345678901234567890123456789012345'::BIGNUM", '123456789012345678901234567890123456789012345'],
  ['1.5::FLOAT', 1.5],
  ['1e300::DOUBLE', 1e300],
  ['0.1::DOUBLE', 0.1],
  ['1e-7::DOUBLE', 1e-7],
  ['12::DOUBLE', 12],
  ['-0.0::DOUBLE', -0],
  ['1e21::DOUBLE', 1e21],
  ["'nan'::DOUBLE", null],
  ["'inf'::DOUBLE", null],
  ["'-inf'::FLOAT", null],
  ['12.50::DECIMAL(6,2)', 12.5],
  ['-0.05::DECIMAL(18,2)', -0.05],
  ['1234567890123.45::DECIMAL(18,2)', 1_234_567_890_123.45],
  ['12345678901234.56::DECIMAL(18,2)', '12345678901234.56'],
  ['0.5::DECIMAL(38,20)', 0.5],
  ['100::DECIMAL(38,0)', 100],
  ['1000000000000000::DECIMAL(38,0)', '1000000000000000'],
  ["'12345678901234567890.123456789'::DECIMAL(38,9)", '12345678901234567890.123456789'],
  ["'quote \" slash \\ tab \t nul-free é 😀'", 'quote " slash \\ tab \t nul-free é 😀'],
  ["'line' || chr(10) || 'break' || chr(13)", 'line\nbreak\r'],
  ['chr(0)', '\0'],
  ["'\\u001b' || chr(27) || chr(31) || '\\' || chr(11)", '\\u001b\u001b\u001f\\\u000b'],
  ["''", ''],
  ["DATE '2024-02-29'", '2024-02-29'],
  ["DATE '0001-01-01'", '0001-01-01'],
  ["DATE '0001-12-31 (BC)'", '0001-12-31 (BC)'],
  ["DATE '0044-03-15 (BC)'", '0044-03-15 (BC)'],
  ["DATE '12345-06-07'", '12345-06-07'],
  ["TIMESTAMP '0044-03-15 (BC) 12:00:00.5'", '0044-03-15 (BC)T12:00:00.5Z'],
  ["TIMESTAMP '0001-12-31 (BC) 23:59:59'", '0001-12-31 (BC)T23:59:59Z'],
  ["TIMESTAMP '12345-06-07 08:09:10.000001'", '12345-06-07T08:09:10.000001Z'],
  ["TIMESTAMPTZ '0044-03-15 (BC) 12:00:00+00'", '0044-03-15 (BC)T12:00:00Z'],
  ["'infinity'::DATE", null],
  ["TIME '10:11:12.5'", '10:11:12.5'],
  ["'10:11:12+02'::TIMETZ", '10:11:12+02'],
  ["TIMESTAMP '2024-01-02 03:04:05'", '2024-01-02T03:04:05Z'],
  ["TIMESTAMP '2024-01-02 03:04:05.678'", '2024-01-02T03:04:05.678Z'],
  ["TIMESTAMP '2024-01-02 03:04:05.000001'", '2024-01-02T03:04:05.000001Z'],
  ["TIMESTAMP '1969-12-31 23:59:59.5'", '1969-12-31T23:59:59.5Z'],
  ["'infinity'::TIMESTAMP", null],
  ["'2024-01-02 03:04:05.123456789'::TIMESTAMP_NS", '2024-01-02T03:04:05.123456789Z'],
  ["'2024-01-02 03:04:05'::TIMESTAMP_S", '2024-01-02T03:04:05Z'],
  ["'2024-01-02 03:04:05.25'::TIMESTAMP_MS", '2024-01-02T03:04:05.25Z'],
  ["'2024-01-02 03:04:05+02'::TIMESTAMPTZ", '2024-01-02T01:04:05Z'],
  ["INTERVAL '1 year 2 days 3 hours'", '1 year 2 days 03:00:00'],
  ["'\\x00\\xFFab'::BLOB", Buffer.from([0, 255, 97, 98]).toString('base64')],
  ["'00000000-0000-4000-8000-00000000000a'::UUID", '00000000-0000-4000-8000-00000000000a'],
  ["'0101'::BIT", '0101'],
  ["'b'::ENUM('a', 'b')", 'b'],
  ['[1, 2, NULL]', [1, 2, null]],
  ['[]::INTEGER[]', []],
  ['NULL::INTEGER[]', null],
  ['[9007199254740993::BIGINT, 1]', ['9007199254740993', 1]],
  ["['nan'::DOUBLE, 2.5]", [null, 2.5]],
  ['[[1.25::DOUBLE], NULL, []]', [[1.25], null, []]],
  ["[TIMESTAMP '2024-01-02 03:04:05']", ['2024-01-02T03:04:05Z']],
  ['array_value(1, 2, 3)', [1, 2, 3]],
  ["array_value('nan'::FLOAT, 1)", [null, 1]],
  ["{'a': 1, 'b c': 'x', 'n': NULL}", { a: 1, 'b c': 'x', n: null }],
  [
    "{'big': 9007199254740993, 'inner': {'at': TIMESTAMP '2024-01-02 03:04:05', 'blob': 'a'::BLOB}}",
    { big: '9007199254740993', inner: { at: '2024-01-02T03:04:05Z', blob: 'YQ==' } },
  ],
  ["{'price': [12.50::DECIMAL(6,2)], 'rate': 3::DOUBLE, 'share': 1::FLOAT}", { price: [12.5], rate: 3, share: 1 }],
  ["[{'x': 'inf'::DOUBLE}, NULL]", [{ x: null }, null]],
  ['row(1, 2.5::DOUBLE)', [1, 2.5]],
  ["MAP {'a': 1, 'b': 9007199254740993}", { a: 1, b: '9007199254740993' }],
  ['MAP {1: [true]}', { 1: [true] }],
  ['MAP {}', {}],
  ['union_value(number := 5)', 5],
  ["union_value(at := DATE '2024-01-02')", '2024-01-02'],
  ['\'{"a": [1, {"b": null}], "c": "d"}\'::JSON', { a: [1, { b: null }], c: 'd' }],
  ['[\'{"a": 1}\'::JSON]', [{ a: 1 }]],
  ['\'"text"\'::JSON', 'text'],
  ['NULL::JSON', null],
]

describe('JSON of each type', () => {
  test.each(values)('%s', async (expression, expected) => {
    const { rows, engine, catalog } = fixture
    const sql = `SELECT ${expression} AS v FROM range(2)`
    // The first call lets DuckDB build the JSON, the second knows of few rows and encodes them in the executor.
    const built = await rows(sql)
    const encoded = await rows(sql)
    expect(built).toEqual([{ v: expected }, { v: expected }])
    expect(encoded).toEqual(built)
    // Many rows: once with a limit, once numbered; the cheap way to JSON or, where a value needs it, the careful one.
    const many = sql.replace('range(2)', 'range(70)')
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const all = await rows(many)
      expect(all).toHaveLength(70)
      expect(new Set(all.map((row) => JSON.stringify(row)))).toEqual(new Set([JSON.stringify({ v: expected })]))
    }
    const stream = await engine.stream('project', catalog, {
      sql,
      slots: [],
      format: 'json',
      maxRows: 10,
      maxBytes: 1_000_000,
    })
    let text = ''
    for await (const { bytes } of stream.chunks) text += (text === '' ? '' : ',') + bytes.toString()
    expect(JSON.parse(`[${text}]`)).toEqual(built)
    expect(text).not.toContain('\n')
  })

  test.each(values)('%s is the same bytes each way', async (expression) => {
    const { engine, catalog } = fixture
    const sql = `SELECT ${expression} AS v`
    const input = { sql, slots: [], format: 'json' as const, maxRows: 10, maxBytes: 1_000_000 }
    const built = (await engine.read('project', catalog, input)).bytes.toString()
    expect((await engine.read('project', catalog, input)).bytes.toString()).toBe(built)
    const stream = await engine.stream('project', catalog, input)
    let text = ''
    for await (const { bytes } of stream.chunks) text += bytes.toString()
    expect(`[${text}]`).toBe(built)
  })

  test('keeps every column: __proto__, names twice, names that differ in case, names with quotes', async () => {
    const sql = `SELECT 1 AS "__proto__", 2 AS a, 3 AS a, 4 AS "A", 5 AS "é""x", 7 AS "a_1"`
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await fixture.engine.read('project', fixture.catalog, {
        sql,
        slots: [],
        maxRows: 10,
        maxBytes: 10_000,
      })
      expect(answer.bytes.toString()).toBe('[{"__proto__":1,"a":2,"a_1":3,"A":4,"é\\"x":5,"a_1_1":7}]')
    }
  })
})
