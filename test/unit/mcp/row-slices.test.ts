import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sliceRows } from '../../../server/mcp/tools/row-slices.ts'

const anything = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })

test('gives the rows that a parser would give, whatever stands in them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anything, { maxLength: 12 }),
      fc.nat(14),
      fc.integer({ min: 1, max: 14 }),
      async (rows, from, maxRows) => {
        const json = JSON.stringify(rows)
        const slice = await sliceRows(Buffer.from(json), { from, maxRows, maxBytes: 1_000_000 })
        const expected = (JSON.parse(json) as unknown[]).slice(from, from + maxRows)
        expect(slice).toEqual({ rows: expected, count: expected.length })
      },
    ),
  )
})

test('gives no more bytes than it may, and no row where the first is too large', async () => {
  const rows = Array.from({ length: 100 }, (_, at) => ({ at, text: 'é'.repeat(10) }))
  const json = Buffer.from(JSON.stringify(rows))
  const { rows: given, count } = await sliceRows(json, { from: 10, maxRows: 1_000, maxBytes: 200 })
  expect(given).toEqual(rows.slice(10, 10 + count))
  expect(count).toBeGreaterThan(2)
  expect(Buffer.byteLength(JSON.stringify(given)) - 2).toBeLessThanOrEqual(200)
  expect(await sliceRows(json, { from: 0, maxRows: 5, maxBytes: 20 })).toEqual({ rows: [], count: 0 })
})

test('finds nothing after the last row and in an empty result', async () => {
  const limits = { maxRows: 5, maxBytes: 1_000 }
  expect(await sliceRows(Buffer.from('[]'), { from: 0, ...limits })).toEqual({ rows: [], count: 0 })
  expect(await sliceRows(Buffer.from('[{"a":1}]'), { from: 1, ...limits })).toEqual({ rows: [], count: 0 })
})
