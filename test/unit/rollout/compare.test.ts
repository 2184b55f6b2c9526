import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareResults, type Comparison } from '../../../server/rollout/compare/compare.ts'
import { collectSide, type Side, type SideLimits } from '../../../server/rollout/compare/side.ts'

type Row = Record<string, unknown>
type Column = { name: string; type: string }

const roomy: SideLimits = { maxTextBytes: 10_000_000, maxDigests: 100_000 }
const digestsOnly: SideLimits = { maxTextBytes: 0, maxDigests: 100_000 }
const sumOnly: SideLimits = { maxTextBytes: 0, maxDigests: 0 }

const columns: Column[] = [
  { name: 'id', type: 'INTEGER' },
  { name: 'region', type: 'VARCHAR' },
  { name: 'revenue', type: 'DECIMAL(18,2)' },
  { name: 'share', type: 'DOUBLE' },
]

/** As it comes from an executor: whole lines, in chunks. */
function sideOf(rows: Row[], { limits = roomy, of = columns }: { limits?: SideLimits; of?: Column[] } = {}): Side {
  const side = collectSide(of, limits)
  for (let at = 0; at < rows.length; at += 3) {
    side.add(
      Buffer.from(
        rows
          .slice(at, at + 3)
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(''),
      ),
    )
  }
  return side.end(false)
}

async function compared(before: Side, after: Side, keys: string[][] = []): Promise<Comparison> {
  const comparison = await compareResults(before, after, keys)
  if (comparison === null) throw new Error('not compared')
  return comparison
}

const anyRow = fc.record({
  id: fc.integer({ min: 0, max: 50 }),
  region: fc.constantFrom('north', 'south', null),
  revenue: fc.integer({ min: 0, max: 5 }),
  // JSON knows no negative zero.
  share: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.constant(null),
  ),
})
const anyRows = fc.array(anyRow, { maxLength: 30 })
/** Rows that an id tells apart. */
const keyedRows = fc.uniqueArray(anyRow, { selector: ({ id }) => id, minLength: 2, maxLength: 30 })

test('a result is equal to itself, whatever is held of it', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, fc.constantFrom(roomy, digestsOnly, sumOnly), async (rows, limits) => {
      const { outcome, added, removed, changed } = await compared(sideOf(rows, { limits }), sideOf(rows, { limits }))
      expect({ outcome, added, removed, changed }).toEqual({ outcome: 'equal', added: 0, removed: 0, changed: 0 })
    }),
  )
})

test('the same rows in another order are reordered, or equal where the order shows no difference', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, fc.constantFrom(roomy, digestsOnly, sumOnly), async (rows, limits) => {
      const turned = rows.toReversed()
      const isAlike = JSON.stringify(turned) === JSON.stringify(rows)
      const { outcome } = await compared(sideOf(rows, { limits }), sideOf(turned, { limits }))
      if (limits !== roomy) expect(outcome).toBe(isAlike ? 'equal' : 'reordered')
      // Numbers that are near count as alike, so more orders are.
      else expect(isAlike ? ['equal'] : ['equal', 'reordered']).toContain(outcome)
    }),
  )
})

test('every row is accounted for: kept, changed, removed or added', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, anyRows, async (before, after) => {
      const there = await compared(sideOf(before), sideOf(after))
      const { added, removed, changed } = there
      expect((added ?? 0) - (removed ?? 0)).toBe(after.length - before.length)
      expect((removed ?? 0) + (changed ?? 0)).toBeLessThanOrEqual(before.length)
      expect((added ?? 0) + (changed ?? 0)).toBeLessThanOrEqual(after.length)
      expect(there.outcome === 'different').toBe((added ?? 0) + (removed ?? 0) + (changed ?? 0) > 0)
    }),
  )
})

test('the other way round, what was added is removed', async () => {
  await fc.assert(
    fc.asyncProperty(keyedRows, keyedRows, async (before, after) => {
      const keys = [['id']]
      const there = await compared(sideOf(before), sideOf(after), keys)
      const back = await compared(sideOf(after), sideOf(before), keys)
      expect(back.outcome).toBe(there.outcome)
      expect([back.added, back.removed, back.changed]).toEqual([there.removed, there.added, there.changed])
      expect(back.changedColumns).toEqual(there.changedColumns)
    }),
  )
})

test('a value that changed is named by its column, and the row is found by its key', async () => {
  await fc.assert(
    fc.asyncProperty(keyedRows, fc.nat(), fc.boolean(), async (rows, pick, isShuffled) => {
      const at = pick % rows.length
      const changed = rows.map((row, index) => (index === at ? { ...row, revenue: row.revenue + 100 } : row))
      const { outcome, ...found } = await compared(sideOf(rows), sideOf(isShuffled ? changed.toReversed() : changed), [
        ['id'],
      ])
      expect(outcome).toBe('different')
      expect(found).toMatchObject({ added: 0, removed: 0, changed: 1, changedColumns: { revenue: 1 } })
      expect(found.sample).toEqual([{ kind: 'changed', before: rows[at], after: changed[at], columns: ['revenue'] }])
    }),
  )
})

test('without a key from the tables, the columns that name the row are found', async () => {
  const before = [
    { region: 'north', year: 2024, revenue: 10 },
    { region: 'north', year: 2025, revenue: 20 },
    { region: 'south', year: 2024, revenue: 30 },
  ]
  const of = [
    { name: 'region', type: 'VARCHAR' },
    { name: 'year', type: 'INTEGER' },
    { name: 'revenue', type: 'INTEGER' },
  ]
  const after = before.map((row) => (row.revenue === 20 ? { ...row, revenue: 21 } : row))
  const found = await compared(sideOf(before, { of }), sideOf(after, { of }))
  expect(found).toMatchObject({
    key: ['region', 'year'],
    changed: 1,
    added: 0,
    removed: 0,
    changedColumns: { revenue: 1 },
  })
})

test('a result of one row has one row, whatever is in it', async () => {
  const of = [{ name: 'total', type: 'DECIMAL(18,2)' }]
  const found = await compared(sideOf([{ total: 5 }], { of }), sideOf([{ total: 6 }], { of }))
  expect(found).toMatchObject({ outcome: 'different', changed: 1, added: 0, removed: 0, changedColumns: { total: 1 } })
})

test('rows that no columns tell apart are counted as added and removed', async () => {
  const of = [{ name: 'region', type: 'VARCHAR' }]
  const rows = ['north', 'north', 'south', 'south'].map((region) => ({ region }))
  const after = ['north', 'north', 'north', 'east'].map((region) => ({ region }))
  const found = await compared(sideOf(rows, { of }), sideOf(after, { of }))
  expect(found).toMatchObject({ outcome: 'different', key: null, added: 2, removed: 2, changed: 0 })
})

test('floating-point numbers are equal within a billionth, all else exactly', async () => {
  const of = [
    { name: 'region', type: 'VARCHAR' },
    { name: 'share', type: 'DOUBLE' },
  ]
  const near = [{ region: 'north', share: 0.1 + 0.2 }]
  expect(await compared(sideOf(near, { of }), sideOf([{ region: 'north', share: 0.3 }], { of }))).toMatchObject({
    outcome: 'equal',
  })
  const far = [{ region: 'north', share: 0.300001 }]
  expect(await compared(sideOf(near, { of }), sideOf(far, { of }))).toMatchObject({
    outcome: 'different',
    changedColumns: { share: 1 },
  })
  const exact = [{ name: 'amount', type: 'DECIMAL(18,4)' }]
  const amounts = [{ amount: 1.0001 }]
  expect(
    await compared(sideOf(amounts, { of: exact }), sideOf([{ amount: 1.00010000001 }], { of: exact })),
  ).toMatchObject({ outcome: 'different' })
})

test('near numbers meet their partner also where the order is another and no key is there', async () => {
  const of = [{ name: 'share', type: 'DOUBLE' }]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.double({ min: 0.5, max: 1e6, noNaN: true }), { maxLength: 20 }), async (numbers) => {
      const rows = numbers.map((share) => ({ share }))
      const nudged = numbers.map((share) => ({ share: share * (1 + 1e-13) })).toReversed()
      const { outcome } = await compared(sideOf(rows, { of }), sideOf(nudged, { of }))
      expect(['equal', 'reordered']).toContain(outcome)
    }),
  )
})

test('columns that came, went or changed their type are named and not held against the rows', async () => {
  const before = [{ id: 1, region: 'north', revenue: 5 }]
  const after = [{ revenue: 5, id: 1, margin: 2 }]
  const found = await compared(
    sideOf(before, {
      of: [
        { name: 'id', type: 'INTEGER' },
        { name: 'region', type: 'VARCHAR' },
        { name: 'revenue', type: 'INTEGER' },
      ],
    }),
    sideOf(after, {
      of: [
        { name: 'revenue', type: 'BIGINT' },
        { name: 'id', type: 'INTEGER' },
        { name: 'margin', type: 'INTEGER' },
      ],
    }),
  )
  expect(found.outcome).toBe('equal')
  expect(found.columns).toEqual({
    added: ['margin'],
    removed: ['region'],
    retyped: [{ name: 'revenue', before: 'INTEGER', after: 'BIGINT' }],
  })
})

test('results too large to hold are told apart by digests, and by one sum beyond that', async () => {
  const exactRow = anyRow.map(({ id, region, revenue }) => ({ id, region, revenue }))
  const exact = fc.array(exactRow, { maxLength: 20 })
  const of = columns.slice(0, 3)
  await fc.assert(
    fc.asyncProperty(exact, exact, async (before, after) => {
      const [whole, digests, sum] = await Promise.all(
        [roomy, digestsOnly, sumOnly].map((limits) =>
          compared(sideOf(before, { limits, of }), sideOf(after, { limits, of })),
        ),
      )
      expect(digests?.outcome).toBe(whole?.outcome)
      expect(sum?.outcome).toBe(whole?.outcome)
      expect((digests?.added ?? 0) - (digests?.removed ?? 0)).toBe(after.length - before.length)
    }),
  )
})

test('what is held of a result has a limit', () => {
  const limits = { maxTextBytes: 1_000, maxDigests: 50 }
  const rows = (count: number): Row[] => Array.from({ length: count }, (_, id) => ({ id, region: 'north' }))
  expect(sideOf(rows(10), { limits }).rows.held).toBe('texts')
  expect(sideOf(rows(50), { limits }).rows.held).toBe('digests')
  expect(sideOf(rows(500), { limits }).rows.held).toBe('sum')
})

test('large results of other columns are not compared', async () => {
  const [before, after] = [
    sideOf([{ id: 1 }], { limits: digestsOnly, of: [{ name: 'id', type: 'INTEGER' }] }),
    sideOf([{ id: 1, more: 2 }], { limits: digestsOnly }),
  ]
  expect(await compareResults(before, after)).toBeNull()
})
