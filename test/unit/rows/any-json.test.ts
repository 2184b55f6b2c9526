import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRowReader, texts, type Shape } from '../../../server/rows/index.ts'
import { useRows } from './run.ts'
import { rounds } from '../../harness/rounds.ts'

const { run } = useRows()

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
      { numRuns: rounds(60, 300) },
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
        const rows = value === null ? [] : rowsOf(parsed.a['b.c'][1].d)
        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows)
      }),
      { numRuns: rounds(40, 200) },
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
      { numRuns: rounds(60, 300) },
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
        expect(learned?.maxBytes).toBeGreaterThanOrEqual(Math.max(...lines.map((line) => Buffer.byteLength(line))))
      },
    ),
    { numRuns: rounds(60, 300) },
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
