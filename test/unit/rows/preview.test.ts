import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonBytes, outlineOf, parseExact, previewOf, type PreviewAsked } from '../../../server/rows/index.ts'
import { cutValue } from '../../../server/rows/cut-value.ts'
import { rounds } from '../../harness/rounds.ts'

const asked: PreviewAsked = {
  contentType: 'application/json',
  extractor: '',
  maxDepth: 64,
  isCut: false,
  hasRows: true,
  maxBytes: 1_000,
}

/** A number as JSON may write it, most with more digits than a double holds. */
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^(0|[1-9]\d{0,24})$/),
    fc.stringMatching(/^(\.\d{1,20})?$/),
    fc.stringMatching(/^([eE][+-]?\d{1,4})?$/),
  )
  .map((parts) => parts.join(''))
const space = fc.constantFrom('', ' ', '\n')
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    number,
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('"1e400"', '"\\\\"', '"12345678901234567890"', '"\\"1e400"', 'null', 'true'),
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]) => `[${items.join(`${gap},${gap}`)}]`),
    fc
      .array(fc.tuple(fc.string(), tie('value'), space), { maxLength: 4 })
      .map((items) => `{${items.map(([key, value, gap]) => `${JSON.stringify(key)}${gap}:${gap}${value}`).join(',')}}`),
  ),
})).value

/** By the engine's own parser, number by number. */
function reference(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    if (typeof value !== 'number' || source === undefined) return value
    const digits = source.replace(/[eE].*$/, '').replaceAll(/[-.]/g, '')
    const significant = digits.replace(/^0+/, '').replace(/0+$/, '').length
    const isHeld =
      source.length <= 15
        ? Number.isFinite(value)
        : /^-?\d+$/.test(source)
          ? Number.isSafeInteger(value)
          : Number.isFinite(value) && significant <= 15
    return isHeld ? value : source
  })
}

describe('JSON whose numbers keep their digits', () => {
  test('is what the parser reads, but for numbers that it would change', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(parseExact(text)).toEqual(reference(text))
      }),
      { numRuns: rounds(200, 1_000) },
    )
  })

  test('and what the parser refuses is refused', () => {
    const cuts = fc.tuple(json, fc.nat(), fc.constantFrom('', '0', 'e400', '1e400', '"', ':', '12345678901234567890'))
    fc.assert(
      fc.property(cuts, ([text, at, more]) => {
        const broken = text.slice(0, at % (text.length + 1)) + more + text.slice(at % (text.length + 1))
        let expected: unknown = 'refused'
        try {
          expected = reference(broken)
        } catch {
          // Nothing to compare with.
        }
        if (expected === 'refused') expect(() => parseExact(broken)).toThrow(SyntaxError)
        else expect(parseExact(broken)).toEqual(expected)
      }),
      { numRuns: rounds(200, 1_000) },
    )
    expect(() => parseExact('{12345678901234567890: 1}')).toThrow(SyntaxError)
  })

  test('a number of two million zeros is one number', () => {
    const text = `1.${'0'.repeat(2_000_000)}1`
    expect(parseExact(`[${text}]`)).toEqual([text])
    expect(parseExact(`[1.${'0'.repeat(2_000_000)}]`)).toEqual([1])
  })
})

describe('a part of a value', () => {
  const long = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1_100, maxLength: 3_000 }),
    fc.array(fc.integer(), { minLength: 500, maxLength: 800 }),
    fc.integer(),
  )
  const large = fc.dictionary(fc.string(), fc.oneof(long, fc.dictionary(fc.string(), long)), { maxKeys: 20 })

  test('has no more bytes than it may, and holds nothing else than the whole', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), large), fc.integer({ min: 30, max: 4_000 }), (value, most) => {
        const { value: part, isCut } = cutValue(value, most)
        expect(isCut).toBe(jsonBytes(value, most) > most)
        if (!isCut) expect(part).toBe(value)
        expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(most)
        expectPart(part, value)
      }),
    )
  })

  test('of lists are whole elements, and what follows a long list stays', () => {
    const items = Array.from({ length: 1_000 }, (_, id) => ({ id }))
    const { value, isCut } = cutValue({ meta: { a: 1 }, items, next: 'c' }, 2_000)
    expect(isCut).toBe(true)
    const shown = value as { meta: object; items: object[]; next: string }
    expect(Object.keys(shown)).toEqual(['meta', 'items', 'next'])
    expect(shown).toMatchObject({ meta: { a: 1 }, next: 'c' })
    expect(shown.items.length).toBeGreaterThan(100)
    expect(shown.items).toEqual(items.slice(0, shown.items.length))
  })
})

function expectPart(part: unknown, whole: unknown): void {
  if (typeof part === 'string') expect(String(whole).startsWith(part)).toBe(true)
  else if (Array.isArray(part)) for (const [at, item] of part.entries()) expectPart(item, (whole as unknown[])[at])
  else if (typeof part === 'object' && part !== null) {
    const members = whole as Record<string, unknown>
    for (const [key, value] of Object.entries(part)) expectPart(value, members[key])
  } else expect(part).toEqual(whole)
}

test('an outline is small however large a value is', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key ${at}`, 'x'.repeat(500)]))
  expect(JSON.stringify(outlineOf({ first: 1, wide })).length).toBeLessThan(200_000)
  expect(outlineOf({ a: [{ b: 1 }], c: { d: null } })).toEqual([
    { path: [] },
    { path: ['a'], list: { count: 1, holdsObjects: true } },
    { path: ['c'] },
    { path: ['c', 'd'], value: null },
  ])
})

describe('a preview', () => {
  const of = (value: unknown, more: Partial<PreviewAsked>) =>
    previewOf(Buffer.from(JSON.stringify(value)), { ...asked, ...more })

  test('takes rows until no more are shown, and looks at a million members at most', () => {
    const groups = Array.from({ length: 500 }, (_, id) => ({ rows: [{ id }, { id }] }))
    const { data, isCut } = of(groups, { extractor: '*.rows' })
    expect(isCut).toBe(true)
    expect((data as object[]).slice(0, 3)).toEqual([{ id: 0 }, { id: 0 }, { id: 1 }])
    const numbers = Array.from({ length: 1_000_001 }, () => 1)
    expect(of(numbers, { extractor: '*.a' }).error).toMatchObject({ code: 'not_tabular' })
    expect(of(numbers.slice(0, 1_000), { extractor: '*.a' }).error).toEqual({
      code: 'extractor_no_match',
      message: 'responsePathExtractor "*.a" matches nothing: The response is a number, not an object; there is no "a".',
    })
  })
})
