import { expect, test } from 'vitest'
import { encodeBody } from '../../server/connections/request/encode-body.ts'
import { nextLink } from '../../server/connections/request/pages.ts'
import { requestAddress } from '../../server/connections/request/with-api.ts'
import { differenceOf } from '../../server/row-tests/difference.ts'
import { longDecimal } from '../../server/rows/json/json-numbers.ts'
import type { Shape } from '../../server/rows/json/shape-tree.ts'
import { readRange } from '../../server/usage/report/range.ts'

/**
 * Texts of others that are one letter over and over: a pattern that matches them in several ways stands for seconds, and
 * for hours where they are as long as they may be. Read once, each takes a few milliseconds.
 */
const mostMs = 100

const blanks = ' '.repeat(1_500)
const zeros = '0'.repeat(60_000)
const slashes = '/'.repeat(8_000)
/** As deep as a body may be: a key that quotes that of its part anew doubles with each level. */
const nested = Array.from({ length: 50 }).reduce<unknown>((inside) => [{ a: inside }], 'x')
const zone = `A/${'A-A-'.repeat(12)}/`

const texts: Array<[string, () => unknown, unknown]> = [
  ['blanks in a Link header', () => nextLink(`<https://a/2>; rel=${blanks}""x`), null],
  ['blanks around the relation', () => nextLink(`<https://a/2>; ${blanks}rel = "${blanks}next" `), 'https://a/2'],
  [
    'slashes behind the address of an API',
    () => requestAddress({ api: 'a', url: 'b' }, { url: `https://a.example${slashes}` }),
    'https://a.example/b',
  ],
  [
    'slashes in the address of an API',
    () => requestAddress({ api: 'a', url: '/b' }, { url: `https://a.example${slashes}c` }),
    `https://a.example${slashes}c/b`,
  ],
  [
    'a long media type',
    () => encodeBody('POST', { type: 'raw', content: 'x', content_type: `text/${'a'.repeat(40_000)}\n` }),
    expect.objectContaining({ code: 'invalid_request' }),
  ],
  [
    'the zeros of a number in an answer',
    () => {
      const shape = { doubleExact: true } as Shape
      longDecimal(shape, `1.${zeros}1`)
      return shape.doubleExact
    },
    false,
  ],
  [
    'a time zone',
    () => readRange({ pool: undefined as never }, 0, { timeZone: zone }),
    expect.objectContaining({ code: 'invalid_request' }),
  ],
  [
    'the zeros of a time in a row of a test',
    () => differenceOf([{ at: `.${zeros}x` }], [{ at: 'b' }], { ordered: false, exact: false }),
    { missing: [{ at: `.${zeros}x` }], unexpected: [{ at: 'b' }], isReordered: false },
  ],
  [
    'lists of 100 levels in a row of a test',
    () => differenceOf([{ a: nested }], [{ a: [nested] }], { ordered: false, exact: false }),
    { missing: [{ a: nested }], unexpected: [{ a: [nested] }], isReordered: false },
  ],
]

test.each(texts)('%s: read once', async (_, read, expected) => {
  const before = process.threadCpuUsage()
  const found = await Promise.resolve()
    .then(read)
    .catch((error: unknown) => error)
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(mostMs)
  expect(found).toEqual(expected)
})
