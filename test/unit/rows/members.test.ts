import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExtractor, parsePath, pick } from '../../../server/rows/index.ts'
import { useRows } from './run.ts'
import { rounds } from '../../harness/rounds.ts'

const { run, refusal } = useRows()
const rows = (lines: string[]) => lines.map((line) => JSON.parse(line) as unknown)

describe('a path through every member', () => {
  const shops = JSON.stringify({
    data: { eu: { items: [{ id: 1 }, { id: 2 }] }, us: { items: null }, asia: { items: [{ id: 3 }] }, none: {} },
    rates: { '2026-01-01': { usd: 1.1 }, '2026-01-02': { usd: 1.2, '': 0 }, '2026-01-03': {} },
    prices: { EUR: 1, 'U"SD': '2\n' },
    lists: [[1, 2], [], [[3]]],
    deep: { a: { x: [{ n: 1 }], y: [{ n: 2 }, { n: 3 }] }, b: { x: [{ n: 4 }] } },
  })
  test.each([
    ['data.*.items', [{ id: 1 }, { id: 2 }, { id: 3 }]],
    ['data[*].items', [{ id: 1 }, { id: 2 }, { id: 3 }]],
    [
      'data.{region}.items',
      [
        { region: 'eu', id: 1 },
        { region: 'eu', id: 2 },
        { region: 'asia', id: 3 },
      ],
    ],
    ['rates.{day}', [{ day: '2026-01-01', usd: 1.1 }, { day: '2026-01-02', usd: 1.2, '': 0 }, { day: '2026-01-03' }]],
    [
      'prices.{currency}',
      [
        { currency: 'EUR', value: 1 },
        { currency: 'U"SD', value: '2\n' },
      ],
    ],
    ['lists.*', [{ value: 1 }, { value: 2 }, { value: [3] }]],
    [
      'lists.{no}',
      [
        { no: null, value: 1 },
        { no: null, value: 2 },
        { no: null, value: [3] },
      ],
    ],
    [
      'deep.{one}.{two}',
      [
        { one: 'a', two: 'x', n: 1 },
        { one: 'a', two: 'y', n: 2 },
        { one: 'a', two: 'y', n: 3 },
        { one: 'b', two: 'x', n: 4 },
      ],
    ],
    ['deep.*.x[0]', [{ n: 1 }, { n: 4 }]],
  ])('%s', async (path, expected) => {
    expect(rows((await run(shops, { path })).lines)).toEqual(expected)
    // However the answer is cut into pieces.
    expect(rows((await run(shops, { path, chunkBytes: 64 })).lines)).toEqual(expected)
    expect((await run(shops, { path })).rowCount).toBe(expected.length)
  })

  test('a preview takes the same rows as a load', async () => {
    const key = fc.constantFrom('a', 'b', 'items', 'é"\\')
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, 1, 'x', true),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    }))
    const paths = fc.constantFrom('*', '{k}', 'a.*', '*.items', '{k}.items.*', '{k}.{l}', 'items.{k}.a', '[0].*.b')
    const value = (row: unknown) =>
      typeof row === 'object' && row !== null && !Array.isArray(row) ? row : { value: row }
    await fc.assert(
      fc.asyncProperty(tree, paths, async (body, path) => {
        let expected: unknown
        try {
          const found = pick(body, parseExtractor(path))
          expected = (Array.isArray(found) ? found : [found]).map(value)
        } catch {
          expected = 'refused'
        }
        const loaded = await run(JSON.stringify(body), { path }).then(
          ({ lines }) => rows(lines),
          () => 'refused',
        )
        expect(loaded).toEqual(expected)
      }),
      { numRuns: rounds(75, 300) },
    )
  })

  test('lines of JSON and further pages give theirs, too', async () => {
    const lines = '{"d":{"a":{"n":1}}}\n{"d":{"b":{"n":2}}}\n'
    expect(rows((await run(lines, { path: 'd.{k}', contentType: 'application/x-ndjson' })).lines)).toEqual([
      { k: 'a', n: 1 },
      { k: 'b', n: 2 },
    ])
  })

  test('a key keeps every digit, and one that repeats counts as the last', async () => {
    const { lines } = await run('{"a":{"n":12345678901234567890.10},"b":{"n":1,"n":2}}', { path: '{k}' })
    expect(lines).toEqual(['{"k":"a","n":12345678901234567890.10}', '{"k":"b","n":2}'])
  })

  test('is refused where nothing is there, where it has no members, or where a column has the name already', async () => {
    expect((await refusal(shops, { path: 'data.*.lines' })).reason).toBe('extractor_no_match')
    expect((await refusal(shops, { path: 'prices.EUR.*' })).reason).toBe('extractor_no_match')
    expect((await refusal(shops, { path: 'nothing.*' })).message).toContain('has the keys data, rates')
    expect((await refusal(shops, { path: 'rates.{usd}' })).message).toContain('choose another name')
    expect((await refusal('a,b\n1,2\n', { path: '*', contentType: 'text/csv' })).reason).toBe('extractor_no_match')
  })

  test('* in quotes, and in the paths of pagination and of secrets, is a key', async () => {
    expect(rows((await run('{"*":[{"n":1}],"a":[{"n":2}]}', { path: '["*"]' })).lines)).toEqual([{ n: 1 }])
    expect(parsePath('a.*').steps).toEqual(['a', '*'])
  })
})
