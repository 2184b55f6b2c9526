import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Contract, Converted, ConvertedColumn } from '../../server/data/index.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
let count = 0

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

type Result = Converted & { types: Record<string, string>; rows: Record<string, unknown>[] }

async function convert(
  text: string,
  before: ConvertedColumn[] | Contract | null = null,
  kind: 'ndjson' | 'csv' = 'ndjson',
): Promise<Result> {
  const contract = Array.isArray(before)
    ? { columns: before.map((column) => ({ ...column, declared: false })), onMismatch: 'widen' as const }
    : before
  const { dir, engine } = fixture
  count += 1
  const path = join(dir, `source-${count}.${kind}`)
  const parquetPath = join(dir, `table-${count}.parquet`)
  await writeFile(path, text)
  const converted = await engine.convert('project', { source: { kind, path }, parquetPath, contract })
  const catalog = { version: `convert-${count}`, tables: [{ name: 't', parquetPath, columns: converted.columns }] }
  const answer = await engine.read('convert', catalog, {
    sql: 'SELECT * FROM t',
    slots: [],
    maxRows: 100_000,
    maxBytes: 1e8,
  })
  const types = Object.fromEntries(converted.columns.map((column) => [column.name, column.type]))
  return { ...converted, types, rows: JSON.parse(answer.bytes.toString()) as Record<string, unknown>[] }
}

const lines = (...values: unknown[]): string =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n')

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
    await expect(stat(join(fixture.dir, `table-${count}.parquet`))).rejects.toThrow('ENOENT')
    expect(await fixture.rows('SELECT 1 AS x')).toEqual([{ x: 1 }])
  })
})

describe('a refresh', () => {
  const before = (type: string): ConvertedColumn[] => [{ name: 'v', type, sourceKey: 'v' }]

  test.each<[string, string, string, unknown]>([
    ['BIGINT', '1', 'BIGINT', 1],
    ['DECIMAL(38,0)', '1', 'BIGINT', 1],
    ['DECIMAL(18,2)', '1.125', 'DECIMAL(18,3)', 1.125],
    ['BIGINT', '1.5', 'DECIMAL(18,1)', 1.5],
    ['DOUBLE', '1', 'BIGINT', 1],
    ['VARCHAR', '5', 'BIGINT', 5],
    ['VARCHAR', '1.50', 'DECIMAL(18,2)', 1.5],
    ['VARCHAR', '"2024-01-01"', 'DATE', '2024-01-01'],
    ['BIGINT', '"x"', 'VARCHAR', 'x'],
    ['JSON', '5', 'BIGINT', 5],
    ['DATE', '"2024-01-01T10:00:00Z"', 'TIMESTAMP', '2024-01-01T10:00:00Z'],
    ['BIGINT', 'null', 'BIGINT', null],
    ['BIGINT', '{"a":1}', 'STRUCT("a" BIGINT)', { a: 1 }],
  ])('of %s with %s is %s', async (old, value, type, expected) => {
    const result = await convert(`{"v":${value}}`, before(old))
    expect(result.types).toEqual({ v: type })
    expect(result.rows).toEqual([{ v: expected }])
  })

  test('a column of numbers that a word joins is text, with every digit, until the word is gone', async () => {
    const mixed = await convert('{"v":1.50}\n{"v":"unknown"}', before('DECIMAL(18,2)'))
    expect(mixed).toMatchObject({ types: { v: 'VARCHAR' }, rows: [{ v: '1.50' }, { v: 'unknown' }] })
    expect((await convert('{"v":1.50}\n{"v":2}', before('VARCHAR'))).types).toEqual({ v: 'DECIMAL(18,2)' })
  })

  test('a column without a value has no type yet and takes the first that comes', async () => {
    const empty = await convert('{"v":null,"w":1}')
    expect(empty.columns[0]).toMatchObject({ name: 'v', type: 'VARCHAR', untyped: true })
    const contract = {
      columns: [{ name: 'v', type: null, sourceKey: 'v', declared: false }],
      onMismatch: 'hold' as const,
    }
    const filled = await convert('{"v":7}', contract)
    expect(filled).toMatchObject({ types: { v: 'BIGINT' }, mismatches: [] })
    expect(filled.columns[0]).not.toHaveProperty('untyped')
  })

  test('keeps the names of columns, whatever was added or removed', async () => {
    const old = [
      { name: 'Name', type: 'BIGINT', sourceKey: 'Name' },
      { name: 'name_1', type: 'BIGINT', sourceKey: 'name' },
      { name: 'gone', type: 'BIGINT', sourceKey: 'gone' },
    ]
    const result = await convert('{"name":2,"Name":1,"fresh":true}', old)
    expect(result.rows).toEqual([{ name_1: 2, Name: 1, fresh: true }])
  })
})

describe('CSV', () => {
  test('is text unless every value of a column is something else', async () => {
    const text =
      'id,zip,price,on,at,flag,big,note\n1,01234,1.50,2024-01-01,2024-01-01T10:00:00Z,true,99999999999999999999,"a, ""b"""\n2,98765,2,2024-01-02,2024-01-02 11:00:00,false,1,\n'
    const result = await convert(text, null, 'csv')
    expect(result.types).toEqual({
      id: 'BIGINT',
      zip: 'VARCHAR',
      price: 'DECIMAL(18,2)',
      on: 'DATE',
      at: 'TIMESTAMP',
      flag: 'BOOLEAN',
      big: 'DECIMAL(38,0)',
      note: 'VARCHAR',
    })
    expect(result.rows).toEqual([
      {
        id: 1,
        zip: '01234',
        price: 1.5,
        on: '2024-01-01',
        at: '2024-01-01T10:00:00Z',
        flag: true,
        big: '99999999999999999999',
        note: 'a, "b"',
      },
      { id: 2, zip: '98765', price: 2, on: '2024-01-02', at: '2024-01-02T11:00:00Z', flag: false, big: 1, note: null },
    ])
  })

  test('absent values leave a column its type; a quoted empty cell is a text among texts alone', async () => {
    const text = 'id,on,note\n1,2024-01-01,""\n,,\n"","",x\n'
    const result = await convert(text, null, 'csv')
    expect(result.types).toEqual({ id: 'BIGINT', on: 'DATE', note: 'VARCHAR' })
    expect(result.rows).toEqual([
      { id: 1, on: '2024-01-01', note: '' },
      { id: null, on: null, note: null },
      { id: null, on: null, note: 'x' },
    ])
  })

  test('numbers beyond a double are text', async () => {
    const result = await convert('large,small,fine\n1e400,1e-400,1.5e10\n2,2,0e0\n', null, 'csv')
    expect(result.rows).toEqual([
      { large: '1e400', small: '1e-400', fine: 15_000_000_000 },
      { large: '2', small: '2', fine: 0 },
    ])
  })

  test('finds another delimiter', async () => {
    const result = await convert('a;b\n1;x\n2;y\n', null, 'csv')
    expect(result.rows).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: 'y' },
    ])
  })
})

describe('a contract', () => {
  const declared = (type: string, onMismatch: Contract['onMismatch']): Contract => {
    return { columns: [{ name: 'n', type, sourceKey: 'v', declared: true }], onMismatch }
  }
  const text = '{"v":1}\n{"v":"unknown"}\n{"v":"3"}\n{"v":4.5}\n{"v":null}'

  test('gives a declared column its name and type where every value fits, from JSON and from CSV', async () => {
    expect(await convert('{"v":"1"}\n{"v":2.0}', declared('BIGINT', 'refuse'))).toMatchObject({
      types: { n: 'BIGINT' },
      rows: [{ n: 1 }, { n: 2 }],
      mismatches: [],
    })
    expect(await convert('v,w\n1,x\n"",y\n2,z\n', declared('VARCHAR', 'hold'), 'csv')).toMatchObject({
      types: { n: 'VARCHAR', w: 'VARCHAR' },
      rows: [
        { n: '1', w: 'x' },
        { n: '', w: 'y' },
        { n: '2', w: 'z' },
      ],
    })
    const timed = await convert('{"v":"2024-01-01"}', declared('TIMESTAMP', 'hold'))
    expect(timed.rows).toEqual([{ n: '2024-01-01T00:00:00Z' }])
    expect((await convert('{"v":{"a":[1]}}', declared('JSON', 'hold'))).rows).toEqual([{ n: { a: [1] } }])
  })

  test.each(['ndjson', 'csv'] as const)('widens, or holds with what does not fit, from %s', async (kind) => {
    const source = kind === 'csv' ? 'v\n1\nunknown\n3\n4.5\n' : text
    for (const mode of ['widen', 'hold'] as const) {
      const result = await convert(source, declared('BIGINT', mode), kind)
      expect(result.types).toEqual({ n: 'VARCHAR' })
      expect(result.mismatches).toMatchObject([{ column: 'n', expected: 'BIGINT', count: 2 }])
      expect(result.mismatches[0]?.examples.toSorted()).toEqual(['4.5', 'unknown'])
    }
  })

  test('null makes misfits null and keeps them aside by row, also many of them', async () => {
    const { dir, engine } = fixture
    const path = join(dir, 'misfits.ndjson')
    const parquetPath = join(dir, 'misfits.parquet')
    const rejectedPath = join(dir, 'misfits.rejected')
    await writeFile(path, text)
    const source = { kind: 'ndjson' as const, path }
    const contract = declared('BIGINT', 'null')
    const result = await engine.convert('project', { source, parquetPath, contract, rejectedPath })
    expect(result).toMatchObject({ rowCount: 5, columns: [{ name: 'n', type: 'BIGINT' }], mismatches: [{ count: 2 }] })
    const rows = async (name: string, file: string) => {
      const columns = ['row', 'column', 'value', 'n'].map((each) => ({ name: each, type: 'VARCHAR' }))
      const catalog = { version: name, tables: [{ name, parquetPath: file, columns }] }
      const read = { sql: `SELECT * FROM ${name}`, slots: [], maxRows: 100, maxBytes: 1e6 }
      return JSON.parse((await engine.read(name, catalog, read)).bytes.toString()) as unknown[]
    }
    expect(await rows('fitting', parquetPath)).toEqual([{ n: 1 }, { n: null }, { n: 3 }, { n: null }, { n: null }])
    expect(await rows('rejected', rejectedPath)).toEqual([
      { row: 2, column: 'n', value: 'unknown' },
      { row: 4, column: 'n', value: '4.5' },
    ])
  })

  test('refuse stores nothing and says which values', async () => {
    await expect(convert(text, declared('BIGINT', 'refuse'))).rejects.toMatchObject({
      code: 'upstream_error',
      reason: 'type_mismatch',
      message: expect.stringContaining('"unknown"') as string,
    })
    await expect(stat(join(fixture.dir, `table-${count}.parquet`))).rejects.toThrow('ENOENT')
  })

  test('what is not declared is held to the type it has, unless it may widen', async () => {
    const known = (onMismatch: Contract['onMismatch']): Contract => {
      return { columns: [{ name: 'v', type: 'BIGINT', sourceKey: 'v', declared: false }], onMismatch }
    }
    expect((await convert('{"v":"x"}', known('hold'))).mismatches).toMatchObject([{ column: 'v', count: 1 }])
    expect((await convert('{"v":"x"}', known('widen'))).mismatches).toEqual([])
    expect((await convert('{"v":2.5}', known('hold'))).mismatches).toMatchObject([{ found: 'DECIMAL(18,1)' }])
  })

  test('a declared column that the answer leaves out is there, without values', async () => {
    expect(await convert('{"w":1}', declared('DATE', 'hold'))).toMatchObject({
      types: { w: 'BIGINT', n: 'DATE' },
      rows: [{ w: 1, n: null }],
    })
    expect(await convert('', declared('DATE', 'hold'))).toMatchObject({ rowCount: 0, types: { n: 'DATE' } })
  })
})

describe('CSV as it comes', () => {
  test('a row that begins with # is a row, wherever it stands', async () => {
    const text = `id,n\n#1,1\n2,2\n#3,3\n${Array.from({ length: 30_000 }, (_, id) => `${id},${id}`).join('\n')}\n#last,4\n`
    const result = await convert(text, null, 'csv')
    expect(result).toMatchObject({ rowCount: 30_004, types: { id: 'VARCHAR', n: 'BIGINT' } })
    expect([result.rows[0], result.rows[2], result.rows.at(-1)]).toEqual([
      { id: '#1', n: 1 },
      { id: '#3', n: 3 },
      { id: '#last', n: 4 },
    ])
    expect((await convert('id\n#\n#\n', null, 'csv')).rows).toEqual([{ id: '#' }, { id: '#' }])
  })

  test('line ends, quotes, short rows and blank lines of every kind keep every value', async () => {
    const text = 'a;b;c\r\n1;"x;""y""\nz";true\r\n2;say "hi"\n\n3;"";FALSE\r4;"plain";true'
    const result = await convert(text, null, 'csv')
    expect(result.rows).toEqual([
      { a: 1, b: 'x;"y"\nz', c: true },
      { a: 2, b: 'say "hi"', c: null },
      { a: 3, b: '', c: false },
      { a: 4, b: 'plain', c: true },
    ])
  })

  test('a line of many megabytes is a row', async () => {
    const long = 'x'.repeat(5_000_000)
    const result = await convert(`a,b\n1,${long}\n2,"${long}"\n`, null, 'csv')
    expect(result.rows.map((row) => String(row['b']).length)).toEqual([5_000_000, 5_000_000])
  })

  test('numbers keep their digits, as from JSON', async () => {
    const result = await convert('a,b,c,d\n1.10,9007199254740993,1e3,007\n2,-1,1.5e-7,1\n', null, 'csv')
    expect(result.types).toEqual({ a: 'DECIMAL(18,2)', b: 'BIGINT', c: 'DECIMAL(18,8)', d: 'VARCHAR' })
    expect(result.rows[0]).toEqual({ a: 1.1, b: '9007199254740993', c: 1000, d: '007' })
  })
})
