import { stat } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lines, openConversions, type Conversions } from './convert-fixture.ts'

let conversions: Conversions
beforeAll(async () => {
  conversions = await openConversions()
})
afterAll(() => conversions.close())
const convert: Conversions['convert'] = (...input) => conversions.convert(...input)

describe('conversion keeps values', () => {
  test.each<[string, string[], string, unknown[]]>([
    ['integers', ['1', '-5', 'null'], 'BIGINT', [1, -5, null]],
    ['integers beyond 2^53', ['9007199254740993', '1'], 'BIGINT', ['9007199254740993', 1]],
    [
      'the largest 64-bit integers',
      ['9223372036854775807', '-9223372036854775807'],
      'BIGINT',
      ['9223372036854775807', '-9223372036854775807'],
    ],
    ['integers beyond int64', ['18446744073709551616', '-5'], 'DECIMAL(38,0)', ['18446744073709551616', -5]],
    [
      'integers beyond int128',
      ['123456789012345678901234567890123456789012', '7'],
      'VARCHAR',
      ['123456789012345678901234567890123456789012', '7'],
    ],
    ['decimals', ['19.99', '5', '0.1'], 'DECIMAL(18,2)', [19.99, 5, 0.1]],
    ['doubles of many digits', ['0.30000000000000004', '1.5'], 'DOUBLE', [0.300_000_000_000_000_04, 1.5]],
    [
      'decimals of more digits than a double',
      ['0.1234567890123456789', '1.5'],
      'DECIMAL(38,19)',
      ['0.1234567890123456789', 1.5],
    ],
    ['large and small together', ['9007199254740993', '0.25'], 'DECIMAL(38,2)', ['9007199254740993.00', 0.25]],
    ['exponents', ['1.5e-7', '2E3'], 'DECIMAL(18,8)', [1.5e-7, 2000]],
    ['numbers beyond a double', ['1e400', '1.5'], 'VARCHAR', ['1e400', '1.5']],
    ['booleans', ['true', 'false'], 'BOOLEAN', [true, false]],
    ['texts', ['"a"', '""', '"é😀 \\"q\\" \\\\ \\u0000"'], 'VARCHAR', ['a', '', 'é😀 "q" \\ \0']],
    ['dates', ['"2024-02-29"', 'null'], 'DATE', ['2024-02-29', null]],
    ['almost dates', ['"2024-02-29"', '"2024-02-30"'], 'VARCHAR', ['2024-02-29', '2024-02-30']],
    ['dates and words', ['"2024-02-29"', '"soon"'], 'VARCHAR', ['2024-02-29', 'soon']],
    [
      'timestamps in UTC',
      ['"2024-01-01T10:00:00Z"', '"2024-01-01T10:00:00.5Z"'],
      'TIMESTAMP',
      ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00.5Z'],
    ],
    [
      'timestamps with offsets',
      ['"2024-01-01T10:00:00+02:00"', '"2024-01-01T10:00:00Z"'],
      'TIMESTAMPTZ',
      ['2024-01-01T08:00:00Z', '2024-01-01T10:00:00Z'],
    ],
    [
      'timestamps with and without a zone',
      ['"2024-01-01T10:00:00"', '"2024-01-01T10:00:00Z"'],
      'VARCHAR',
      ['2024-01-01T10:00:00', '2024-01-01T10:00:00Z'],
    ],
    ['times of nanoseconds', ['"2024-01-01T10:00:00.123456789Z"'], 'VARCHAR', ['2024-01-01T10:00:00.123456789Z']],
    ['digits in quotes', ['"007"', '"42"'], 'VARCHAR', ['007', '42']],
    ['only null', ['null', 'null'], 'VARCHAR', [null, null]],
    ['lists', ['[1,2]', '[]', 'null'], 'BIGINT[]', [[1, 2], [], null]],
    ['lists of mixed values', ['[1,"a",null,{"b":2}]'], 'JSON[]', [[1, 'a', null, { b: 2 }]]],
    [
      'mixed values',
      ['1', '"a"', '{"x":[1]}', 'null', 'true', '[1,2]'],
      'JSON',
      [1, 'a', { x: [1] }, null, true, [1, 2]],
    ],
    [
      'mixed values with long numbers',
      ['9007199254740993', '"a"', '{"x":0.12345678901234567891}'],
      'JSON',
      ['9007199254740993', 'a', { x: '0.12345678901234567891' }],
    ],
    ['empty objects', ['{}', '{}'], 'JSON', [{}, {}]],
    [
      'structs',
      ['{"a":1,"b":{"c":"x"}}', '{"a":null}', 'null'],
      'STRUCT("a" BIGINT, "b" STRUCT("c" VARCHAR))',
      [{ a: 1, b: { c: 'x' } }, { a: null, b: null }, null],
    ],
    [
      'lists of structs',
      ['[{"n":1.25},{"n":2,"m":true}]'],
      'STRUCT("n" DECIMAL(18,2), "m" BOOLEAN)[]',
      [
        [
          { n: 1.25, m: null },
          { n: 2, m: true },
        ],
      ],
    ],
    [
      'structs with keys that differ in case',
      ['{"A":1,"a":"x"}'],
      'STRUCT("A" BIGINT, "a_1" VARCHAR)',
      [{ A: 1, a_1: 'x' }],
    ],
    [
      'long numbers inside structs',
      ['{"n":0.1234567890123456789}'],
      'STRUCT("n" DECIMAL(38,19))',
      [{ n: '0.1234567890123456789' }],
    ],
  ])('%s', async (_, values, type, expected) => {
    const result = await convert(values.map((value) => `{"v":${value}}`).join('\n'))
    expect(result.types).toEqual({ v: type })
    expect(result.rows).toEqual(expected.map((v) => ({ v })))
    expect(result).toMatchObject({ rowCount: values.length, columns: [{ name: 'v', sourceKey: 'v' }] })
    expect(result.sizeBytes).toBeGreaterThan(0)
  })

  test('a key that appears after many rows is a column', async () => {
    const rows = Array.from({ length: 30_000 }, (_, id) => (id === 29_999 ? { id, late: 'x' } : { id }))
    const result = await convert(lines(...rows))
    expect(result.types).toEqual({ id: 'BIGINT', late: 'VARCHAR' })
    expect(result.rowCount).toBe(30_000)
    expect(result.rows.at(-1)).toEqual({ id: 29_999, late: 'x' })
  })

  test('keys that differ in case, __proto__ and an empty key are columns with their source key', async () => {
    const result = await convert('{"Name":1,"name":2,"NAME":3,"__proto__":4,"":5,"a\\"b":6,"é":7,"name_1":8}\n{}')
    expect(result.columns.map(({ name, sourceKey }) => [name, sourceKey])).toEqual([
      ['Name', 'Name'],
      ['name_1', 'name'],
      ['NAME_2', 'NAME'],
      ['__proto__', '__proto__'],
      ['column', ''],
      ['a"b', 'a"b'],
      ['é', 'é'],
      ['name_1_1', 'name_1'],
    ])
    expect(Object.values(result.rows[0] ?? {}).length).toBeGreaterThanOrEqual(7)
    expect(result.rowCount).toBe(2)
  })

  test('an object of 5,000 keys is 5,000 columns', async () => {
    const row = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key_${index}`, index]))
    const result = await convert(lines(row, row))
    expect(result.columns.length).toBe(5_000)
    expect(result.rows[1]).toEqual(row)
    // The memory of one such answer is given back before the next.
    expect((await convert(lines(row))).rowCount).toBe(1)
  })

  test('lists in lists and objects in objects can be read however deep they are', async () => {
    const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`
    const values = [nested('[', ']', 5), nested('[', ']', 40), nested('{"a":', '}', 20), nested('[{"a":', '}]', 25)]
    const result = await convert(`{${values.map((value, index) => `"c${index}":${value}`).join(',')}}`)
    expect(result.types).toMatchObject({ c0: 'BIGINT[][][][][]', c1: 'JSON[][][][][][]' })
    expect(result.types['c2']).toMatch(/^STRUCT.*BIGINT\)+$/)
    expect(result.rows).toEqual([Object.fromEntries(values.map((value, index) => [`c${index}`, JSON.parse(value)]))])
  })

  test('a nested object used as a map keeps every key', async () => {
    const map = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`id-${index}`, { n: index }]))
    const result = await convert(lines({ map }))
    expect(result.types).toEqual({ map: 'JSON' })
    expect(result.rows).toEqual([{ map }])
  })

  test('no rows is an empty table, rows without keys are rows', async () => {
    expect(await convert('')).toMatchObject({ rowCount: 0, rows: [], types: { value: 'VARCHAR' } })
    expect(await convert('{}\n{}\n{}')).toMatchObject({
      rowCount: 3,
      rows: [{ value: null }, { value: null }, { value: null }],
    })
    const before = [{ name: 'id', type: 'BIGINT', sourceKey: 'id' }]
    expect(await convert('', before)).toMatchObject({ rowCount: 0, types: { id: 'BIGINT' } })
  })

  test('what is no JSON is refused and leaves no file', async () => {
    await expect(convert('{"a":1}\n{"a":')).rejects.toMatchObject({ code: 'upstream_error', reason: 'not_tabular' })
    await expect(convert('<html>')).rejects.toMatchObject({ code: 'upstream_error' })
    await expect(convert(`{"a":${'['.repeat(100_000)}`)).rejects.toMatchObject({ code: 'upstream_error' })
    await expect(stat(conversions.lastPath())).rejects.toThrow('ENOENT')
    expect(await conversions.fixture.rows('SELECT 1 AS x')).toEqual([{ x: 1 }])
  })
})
