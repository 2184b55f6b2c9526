import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Contract, ConvertedColumn } from '../../server/engine/index.ts'
import { openConversions, type Conversions } from './convert-fixture.ts'

let conversions: Conversions
beforeAll(async () => {
  conversions = await openConversions()
})
afterAll(() => conversions.close())
const convert: Conversions['convert'] = (...input) => conversions.convert(...input)

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
    const { dir, engine } = conversions.fixture
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
    await expect(stat(conversions.lastPath())).rejects.toThrow('ENOENT')
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
