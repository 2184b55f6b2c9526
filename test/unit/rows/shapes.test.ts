import { describe, expect, test } from 'vitest'
import { useRows } from './run.ts'

const { run } = useRows()

describe('shapes', () => {
  test.each([
    ['[]', 0, 'rows', []],
    ['[{},{}]', 2, 'rows', ['{}', '{}']],
    ['[null,null]', 2, 'rows', ['{"value":null}', '{"value":null}']],
    ['[[1,2],[3]]', 2, 'rows', ['{"value":[1,2]}', '{"value":[3]}']],
    ['[{"a":1},2,"x"]', 3, 'rows', ['{"a":1}', '{"value":2}', '{"value":"x"}']],
    ['{"a":1}', 1, 'one_row', ['{"a":1}']],
    ['{}', 1, 'one_row', ['{}']],
    ['{"a":[1,2],"b":["x","y"]}', 2, 'zipped', ['{"a":1,"b":"x"}', '{"a":2,"b":"y"}']],
    ['{"a":[1,2],"b":["x"]}', 1, 'one_row', ['{"a":[1,2],"b":["x"]}']],
    ['{"a":[],"b":[]}', 0, 'zipped', []],
    ['42', 1, 'scalar', ['{"value":42}']],
    ['"x"', 1, 'scalar', ['{"value":"x"}']],
    ['{"a":1}\n{"a":2}\n', 2, 'lines', ['{"a":1}', '{"a":2}']],
    ['{"a":1}\r\n\r\n{"a":2}', 2, 'lines', ['{"a":1}', '{"a":2}']],
    ['\uFEFF[{"a":1}]', 1, 'rows', ['{"a":1}']],
  ] as const)('%s', async (body, rowCount, shape, lines) => {
    expect(await run(body)).toMatchObject({ rowCount, shape, lines, format: 'ndjson' })
  })

  test('lines by their content type: every document is a row, lists too', async () => {
    const { lines } = await run('[1,2]\n{"a":1}\n\n3', { contentType: 'application/x-ndjson' })
    expect(lines).toEqual(['{"value":[1,2]}', '{"a":1}', '{"value":3}'])
  })
})

describe('columns named once, rows as lists', () => {
  test.each([
    ['{"columns":["name","pop"],"rows":[["Oslo",1.50],["Bergen",null]]}', ''],
    ['{"meta":[{"name":"name","type":"String"},{"name":"pop"}],"data":[["Oslo",1.50],["Bergen",null]],"rows":2}', ''],
    ['{"a":{"data":[ [ "Oslo" , 1.50 ],["Bergen",null]],"column_names":["name","pop"]}}', 'a'],
    [JSON.stringify({ body: '{"columns":["name","pop"],"rows":[["Oslo",1.50],["Bergen",null]]}' }), 'body'],
  ])('%s', async (body, path) => {
    const { lines, rowCount, shape } = await run(body, { path })
    expect({ lines, rowCount, shape }).toEqual({
      lines: ['{"name":"Oslo","pop":1.50}', '{"name":"Bergen","pop":null}'],
      rowCount: 2,
      shape: 'table',
    })
  })

  test('rows that are shorter or longer lose nothing; what is no such table stays what it was', async () => {
    const { lines } = await run('{"columns":["a","b"],"rows":[[1],[],[1,{"x":[2,"]"]},3]]}')
    expect(lines).toEqual(['{"a":1}', '{}', '{"a":1,"b":{"x":[2,"]"]},"column_3":3}'])
    const named = await run('{"columns":["a","column_3"],"rows":[[1,2,3],[4,5,6]]}')
    expect(named.lines).toEqual(['{"a":1,"column_3":2,"column_3_":3}', '{"a":4,"column_3":5,"column_3_":6}'])
    expect(await run('{"columns":["a"],"rows":[]}')).toMatchObject({ shape: 'table', rowCount: 0, lines: [] })
    for (const [body, shape] of [
      ['{"columns":["a","a"],"rows":[[1,2],[3,4]]}', 'zipped'],
      ['{"columns":["a","b"],"rows":[{"a":1},{"a":2}]}', 'zipped'],
      ['{"rows":[[1,2]],"total":1}', 'one_row'],
    ] as const) {
      expect(await run(body)).toMatchObject({ shape })
    }
  })
})

describe('values keep the bytes they were sent with', () => {
  test('numbers of any length, escapes and unicode', async () => {
    const row = '{"n":123456789012345678901234567890.10,"e":1E400,"s":"\\u00e9é😀\\/","__proto__":{"x":1}}'
    const { lines, learned } = await run(`[${row}]`)
    expect(lines).toEqual([row])
    expect([...(learned?.shape.fields.keys() ?? [])]).toEqual(['n', 'e', 's', '__proto__'])
  })

  test('the last of a repeated key counts, at every level', async () => {
    const { lines, rowCount } = await run(
      '[{"a":1,"b":{"c":1,"d":2,"c":3},"a":[{"x":1,"x":2}]},{"\\u0061":1,"a":2},{"a":5}]',
    )
    expect(lines).toEqual(['{"a":[{"x":2}],"b":{"c":3,"d":2}}', '{"\\u0061":2}', '{"a":5}'])
    expect(rowCount).toBe(3)
  })

  test('keys that differ only in case are told apart', async () => {
    const { lines, learned } = await run('[{"A":1,"x":{"y":1}},{"a":2,"x":{"Y":1}}]')
    expect(lines).toHaveLength(2)
    expect([...(learned?.shape.fields.keys() ?? [])]).toEqual(['A', 'x', 'a'])
  })

  test('half of a surrogate pair becomes the replacement character', async () => {
    const { lines } = await run('[{"a":"\\ud800","b":"\\ud83d\\ude00","c":"\\udc00x\\ud83dx"}]')
    expect(lines).toEqual(['{"a":"\\ufffd","b":"\\ud83d\\ude00","c":"\\ufffdx\\ufffdx"}'])
  })

  test('a NUL in a key becomes the replacement character: readers would cut the key there', async () => {
    expect((await run('[{"a\\u0000b":"\\u0000"}]')).lines).toEqual(['{"a\\ufffdb":"\\u0000"}'])
  })

  test('objects of 5,000 keys, and more shapes than are remembered', async () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key ${index}`, index]))
    expect(await run(JSON.stringify([wide, wide]))).toMatchObject({ rowCount: 2 })
    const odd = Array.from({ length: 6000 }, (_, index) => ({ [`a${index}`]: 1, b: 2, [`c${index}`]: { d: index } }))
    const { lines, learned } = await run(JSON.stringify(odd))
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(odd)
    expect(learned?.shape.fields.size).toBe(12_001)
  })
})
