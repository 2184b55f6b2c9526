import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConversions, type Conversions } from './convert-fixture.ts'

let conversions: Conversions
beforeAll(async () => {
  conversions = await openConversions()
})
afterAll(() => conversions.close())
const convert: Conversions['convert'] = (...input) => conversions.convert(...input)

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

  test('booleans may be written large or small, and words like them are texts', async () => {
    const result = await convert('a,b,c\nTRUE,true,True\nfalse,truth,FALSE\nTrue,fals3,\n', null, 'csv')
    expect(result.types).toEqual({ a: 'BOOLEAN', b: 'VARCHAR', c: 'BOOLEAN' })
    expect(result.rows).toEqual([
      { a: true, b: 'true', c: true },
      { a: false, b: 'truth', c: false },
      { a: true, b: 'fals3', c: null },
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

  test('a file that is regular as it came has the rows behind its first line, its last one ended or not', async () => {
    const rows = [
      { id: 1, 'a, name': 'x, "y"', n: 1.5 },
      { id: 2, 'a, name': 'name', n: null },
    ]
    for (const end of ['\n', '\r\n']) {
      const text = ['id,"a, name",n', '1,"x, ""y""",1.5', '2,name,'].join(end)
      for (const body of [text, `${text}${end}`]) {
        expect((await convert(body, null, 'csv')).rows).toEqual(rows)
      }
    }
    const many = Array.from({ length: 200_000 }, (_, id) => `${id},"row ${id}"`).join('\n')
    expect(await convert(`id,name\n${many}`, null, 'csv')).toMatchObject({ rowCount: 200_000 })
    expect((await convert('id,name\n', null, 'csv')).rowCount).toBe(0)
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
