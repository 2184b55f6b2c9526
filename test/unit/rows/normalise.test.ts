import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRowReader, texts, type Shape } from '../../../server/rows/index.ts'
import { normalise, type NormaliseOptions } from '../../../server/rows/normalise.ts'
import { Failure } from '../../../server/failure.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-normalise-'))
})
afterAll(() => rm(folder, { recursive: true }))

let runs = 0
async function run(body: string | Buffer, options: Partial<NormaliseOptions> = {}) {
  runs += 1
  const input = join(folder, `${runs}.body`)
  const output = join(folder, `${runs}.rows`)
  await writeFile(input, body)
  try {
    const result = await normalise(input, output, { contentType: 'application/json', depthAtMost: 64, ...options })
    const text = await readFile(output, 'utf8')
    return { ...result, text, lines: text.split('\n').slice(0, -1) }
  } finally {
    await Promise.all([input, output].map((path) => rm(path, { force: true })))
  }
}

async function refusal(body: string | Buffer, options: Partial<NormaliseOptions> = {}) {
  const error: unknown = await run(body, options).then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Failure)
  const failure = error as Failure
  return { code: failure.code, reason: failure.reason, message: failure.message }
}

/** What the rows of a JSON value are, the simple way. */
function rowsOf(value: unknown): unknown[] {
  const row = (each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? each : { value: each }
  if (Array.isArray(value)) return value.map(row)
  if (typeof value === 'object' && value !== null) {
    const lists: unknown[] = Object.values(value)
    const [first] = lists
    const isZip = Array.isArray(first) && lists.every((each) => Array.isArray(each) && each.length === first.length)
    if (isZip) {
      return first.map((_, at) =>
        Object.fromEntries(Object.entries(value).map(([key, list]) => [key, (list as unknown[])[at]])),
      )
    }
  }
  return [row(value)]
}

const anyJson = fc.jsonValue({ maxDepth: 5, noUnicodeString: false })
const chunkBytes = fc.constantFrom(64, 65, 67, 101, 128, 257, 4096)
const indent = fc.constantFrom(0, 1, 2, '\t', '\r\n')

describe('rows are what JSON.parse reads', () => {
  const stringify = (value: unknown, space: number | string) =>
    space === '\r\n' ? JSON.stringify(value, null, 1).replaceAll('\n', '\r\n') : JSON.stringify(value, null, space)

  test('for any JSON, at any cut of the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, chunkBytes, indent, async (value, size, space) => {
        const body = stringify(value, space)
        fc.pre(longestToken(body) < size && !body.includes('\\u0000'))
        const { lines, rowCount } = await run(body, { chunkBytes: size })
        const parsed: unknown = JSON.parse(body)
        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rowsOf(parsed))
        expect(rowCount).toBe(lines.length)
      }),
      { numRuns: 300 },
    )
  })

  test('under a path, with other things around it', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, anyJson, chunkBytes, async (value, other, size) => {
        fc.pre(typeof value !== 'string')
        const body = JSON.stringify({ other, a: { 'b.c': [other, { d: value }], z: other }, more: other })
        fc.pre(longestToken(body) < size && !body.includes('\\u0000'))
        const { lines } = await run(body, { chunkBytes: size, path: 'a["b.c"][1].d' })
        const parsed = JSON.parse(body) as { a: { 'b.c': [unknown, { d: unknown }] } }
        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rowsOf(parsed.a['b.c'][1].d))
      }),
      { numRuns: 200 },
    )
  })

  test('and what JSON.parse refuses is refused', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, fc.nat(), fc.string({ maxLength: 2 }), async (value, at, noise) => {
        const good = JSON.stringify([value])
        const place = at % good.length
        const body = good.slice(0, place) + noise + good.slice(place + 1)
        const accepted = await run(body).then(
          () => true,
          () => false,
        )
        expect({ body, accepted: accepted && !parses(body) && !isLines(body) }).toEqual({ body, accepted: false })
      }),
      { numRuns: 300 },
    )
  })
})

function parses(body: string): boolean {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

/** Objects on lines of their own are read as such although they are no one JSON document. */
function isLines(body: string): boolean {
  return body.split(/[\r\n]+/).length > 1
}

/** Keys and numbers must fit a piece; the pieces of these tests are far smaller than in service. */
function longestToken(body: string): number {
  return (
    Math.max(0, ...(body.match(/"(?:[^"\\]|\\.)*"|[^\s",:[\]{}]+/g) ?? []).map((token) => Buffer.byteLength(token))) + 2
  )
}

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

describe('the path', () => {
  const body =
    '{"a.b":[{"exact":1}],"a":{"b":[{"path":1}],"c":"[{\\"t\\":\\"\\\\u00e9\\\\n\\"}]","d":"no json","n":5},"list":[[1],[2]]}'
  test.each([
    ['a.b', ['{"exact":1}']],
    ['$.a.b', ['{"path":1}']],
    ['a["b"][0]', ['{"path":1}']],
    ['a.c', ['{"t":"\\u00e9\\n"}']],
    ['a.c[0].t', ['{"value":"\\u00e9\\n"}']],
    ['a.d', ['{"value":"no json"}']],
    ['a.n', ['{"value":5}']],
    ['list[1]', ['{"value":2}']],
    ['$', [body]],
  ])('%s', async (path, lines) => {
    expect((await run(body, { path })).lines).toEqual(lines)
  })

  test.each([
    ['rows', 'The response has the keys a.b, a, list'],
    ['a.x', '"a" has the keys b, c, d, n'],
    ['list[2]', '"list" is a list of 2'],
    ['list.x', 'an element of it is written list[0]'],
    ['a.n.x', '"a.n" is a single value'],
    ['a.d.x', '"a.d" is text'],
  ])('%s is answered with what is there', async (path, words) => {
    const { code, reason, message } = await refusal(body, { path })
    expect({ code, reason }).toEqual({ code: 'invalid_request', reason: 'extractor_no_match' })
    expect(message).toContain(words)
  })

  test('a repeated key on the way: the last one counts', async () => {
    expect((await run('{"d":[1,2,3],"e":1,"d":[{"x":1}]}', { path: 'd' })).lines).toEqual(['{"x":1}'])
  })

  test('a large stringified document is read in pieces', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => ({ index, text: `"é😀\\ ${index}\n` }))
    const { lines } = await run(JSON.stringify({ body: JSON.stringify({ rows }) }), {
      path: 'body.rows',
      chunkBytes: 256,
    })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows)
  })
})

describe('what is no table is refused in words', () => {
  test.each([
    ['', 'not_tabular', 'empty body'],
    ['  \n', 'not_tabular', 'empty body'],
    ['<!doctype html><p>Sign in', 'not_tabular', 'HTML'],
    ['[{"a":1},{"a":', 'transfer_error', 'breaks off'],
    ['[{"a":"x', 'transfer_error', 'breaks off'],
    ['[1,2', 'transfer_error', 'breaks off'],
    ['[1][2]', 'not_tabular', 'there is more'],
    ['[1]\n[2]', 'not_tabular', 'there is more'],
    ['[1] garbage', 'not_tabular', 'there is more'],
    ['[1,]', 'not_tabular', 'byte 3'],
    ['{"a":1,}', 'not_tabular', 'byte 7'],
    ['[01]', 'not_tabular', 'byte 2'],
    ['[1.]', 'not_tabular', 'byte 1'],
    ['["a\nb"]', 'not_tabular', 'control character'],
    ['["\\x"]', 'not_tabular', 'escape'],
    ['['.repeat(100_000), 'not_tabular', 'deeper than 64'],
    ['{"a":'.repeat(100_000), 'not_tabular', 'deeper than 64'],
  ])('%#: %j', async (body, reason, words) => {
    const answer = await refusal(body)
    expect(answer.reason).toBe(reason)
    expect(answer.message).toContain(words)
  })

  test('invalid UTF-8, binary and plain text', async () => {
    expect(await refusal(Buffer.from('5b2261ff62225d', 'hex'))).toMatchObject({ reason: 'not_tabular' })
    expect(await refusal(Buffer.from('00010203', 'hex'), { contentType: 'image/png' })).toMatchObject({
      message: expect.stringContaining('binary') as string,
    })
    expect(await refusal('Hello there', { contentType: 'text/plain' })).toMatchObject({ reason: 'not_tabular' })
  })

  test('what would fill the memory: huge keys, and a record without an end', async () => {
    expect(await refusal(`[{"${'k'.repeat(5000)}":1}]`)).toMatchObject({
      message: expect.stringContaining('4096 bytes') as string,
    })
    const open = `a,b\n1,"${'x'.repeat(17_000_000)}`
    expect(await refusal(open, { contentType: 'text/csv' })).toMatchObject({ reason: 'transfer_error' })
  })

  test('more different keys than a table has', async () => {
    const inner = (row: number) => Array.from({ length: 1000 }, (_, key) => `"${row}_${key}":1`).join(',')
    const body = `[${Array.from({ length: 210 }, (_, row) => `{"k${row}":{${inner(row)}}}`).join(',')}]`
    expect(await refusal(body)).toMatchObject({
      reason: 'not_tabular',
      message: expect.stringContaining('too many different keys') as string,
    })
  })

  test('64 levels are fine, 65 are not', async () => {
    await expect(run('['.repeat(64) + ']'.repeat(64))).resolves.toMatchObject({ rowCount: 1 })
    await expect(refusal('['.repeat(65) + ']'.repeat(65))).resolves.toMatchObject({ reason: 'not_tabular' })
  })
})

describe('other charsets and CSV', () => {
  test('a declared charset, and UTF-16 by its mark', async () => {
    const latin = Buffer.from('[{"a":"é"}]', 'latin1')
    expect((await run(latin, { contentType: 'application/json; charset=iso-8859-1' })).lines).toEqual(['{"a":"é"}'])
    const wide = Buffer.from('\uFEFF[{"a":"é"}]', 'utf16le')
    expect((await run(wide)).lines).toEqual(['{"a":"é"}'])
  })

  test('CSV comes out regular, with its rows counted', async () => {
    const body = 'id;name;ID\r\n1;"a;b ""c"" \nd";x\r\n\r\n2;say "hi", you\r\n3;"";'
    const { text, rowCount, columns } = await run(body, { contentType: 'text/csv; charset=utf-8', chunkBytes: 64 })
    expect(text).toBe('id,name,ID_1\n1,"a;b ""c"" \nd",x\n2,"say ""hi"", you",\n3,"",\n')
    expect({ rowCount, columns }).toEqual({ rowCount: 3, columns: ['id', 'name', 'ID_1'] })
  })

  test('CSV by its looks, at any cut of the pieces', async () => {
    for (const size of [16, 17, 19, 23, 64]) {
      const rows = Array.from({ length: 50 }, (_, index) => `${index},"x ""${index}"", y"`)
      const body = `id,name\n${rows.join('\n')}`
      const { text, format } = await run(body, { contentType: 'text/plain', chunkBytes: size })
      expect({ text, format }).toEqual({ text: `${body}\n`, format: 'csv' })
    }
  })

  test('a row with more fields than the header is named', async () => {
    expect(await refusal('a,b\n1,2\n1,2,3\n', { contentType: 'text/csv' })).toMatchObject({
      message: expect.stringContaining('3 fields in line 3') as string,
    })
  })
})

test('what is learned on the way is what the rows hold, at any cut of the pieces', async () => {
  const leaf = fc.oneof(
    fc.constantFrom('2026-01-02', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.123+02:00', 'x'.repeat(70), '\\"é'),
    fc.constantFrom(0, 1.5, 12345678901234, -7, 1e21, true, null),
    fc.string({ maxLength: 30 }),
  )
  const row = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(row, leaf), { minLength: 1, maxLength: 30 }),
      chunkBytes,
      async (value, size) => {
        const body = JSON.stringify(value)
        fc.pre(longestToken(body) < size && !body.includes('\\u0000'))
        const { lines, learned } = await run(body, { chunkBytes: size })
        const reader = createRowReader(64)
        for (const line of lines) reader.read(Buffer.from(line))
        expect(facts(learned?.shape)).toEqual(facts(reader.shape))
        expect(learned?.longestBytes).toBeGreaterThanOrEqual(Math.max(...lines.map((line) => Buffer.byteLength(line))))
      },
    ),
    { numRuns: 300 },
  )
  const dates = Array.from({ length: 200 }, () => ({ at: '2026-01-02T03:04:05Z' }))
  const { learned } = await run(JSON.stringify(dates), { chunkBytes: 101 })
  expect(learned?.shape.fields.get('at')?.texts).toBe(texts.utc | texts.offset)
})

function facts(shape: Shape | null | undefined): unknown {
  if (shape === null || shape === undefined) return null
  const { kinds, intDigits, scale, doubleExact, largest, texts: possible, fields, items } = shape
  const inside = [...fields].map(([key, each]) => [key, facts(each)])
  return { kinds, intDigits, scale, doubleExact, largest, possible, inside, items: facts(items) }
}

describe('later pages', () => {
  const page = async (body: string, options: Partial<NormaliseOptions>) => {
    const input = join(folder, 'page')
    await writeFile(input, body)
    return normalise(input, join(folder, 'pages'), { depthAtMost: 64, append: true, ...options })
  }
  const written = async () => {
    const text = await readFile(join(folder, 'pages'), 'utf8')
    await rm(join(folder, 'pages'))
    return text
  }

  test('go behind the earlier ones', async () => {
    const options = { path: 'items', contentType: 'application/json' }
    await page('{"items":[{"a":1}]}', options)
    expect(await page('{"items":[{"A":2,"A":3}]}', options)).toMatchObject({ rowCount: 1, learned: null })
    expect(await written()).toBe('{"a":1}\n{"A":3}\n')
  })

  test('of CSV have one header: columns go by name, new ones behind, and a page may leave the header out', async () => {
    const options = { contentType: 'text/csv' }
    const { columns } = await page('id,name\n1,Ada\n', options)
    expect(columns).toEqual(['id', 'name'])
    const again = { ...options, columns: columns ?? [] }
    expect(await page('name,id\n"Łukasz, M.",2\n', again)).toMatchObject({ rowCount: 1, columns: ['id', 'name'] })
    expect(await page('id,name\n', again)).toMatchObject({ rowCount: 0 })
    expect(await page('3,Grace\n4,Alan\n', again)).toMatchObject({ rowCount: 2 })
    const grown = await page('id,city,name\n5,Bern,Eve\n', again)
    expect(grown).toMatchObject({ rowCount: 1, columns: ['id', 'name', 'city'] })
    expect(await written()).toBe('id,name\n1,Ada\n2,"Łukasz, M."\n3,Grace\n4,Alan\n5,Eve,Bern\n')
    const all = await run('id,name\n1,Ada\n5,Eve,Bern\n', { ...options, columns: ['id', 'name', 'city'] })
    expect(all.text).toBe('id,name,city\n1,Ada,\n5,Eve,Bern\n')
  })
})

test('a run that nobody wants any more stops', async () => {
  const stop = () => {
    throw new Error('cancelled')
  }
  await expect(run('[{"a":1}]', { goOn: stop })).rejects.toThrow('cancelled')
})
