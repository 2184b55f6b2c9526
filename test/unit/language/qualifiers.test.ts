import { describe, expect, test } from 'vitest'
import { contrastsIn } from '../../../server/language/contrasts.ts'
import { writeCommandIn, directionAt, isExcluded, isLeftOut } from '../../../server/language/qualifiers.ts'
import { recogniseDates } from '../../../server/language/dates.ts'
import { words } from '../../../server/language/words/text.ts'

/** The text without its brackets, and the words that stood in them. */
function marked(text: string) {
  const plain = text.replaceAll(/[[\]]/g, '')
  const all = words(plain)
  const [start, end] = [text.indexOf('['), text.indexOf(']') - 1]
  const from = all.findIndex((word) => word.end > start)
  return { said: { text: plain, words: all }, from, to: all.findLastIndex((word) => word.start < end) + 1 }
}

describe('a value is left out', () => {
  test.each([
    'orders not from the [north]',
    'orders that did not come from the [north]',
    "shops that aren't in the [north]",
    'shops that aren’t in the [north]',
    'revenue everywhere except the [north]',
    'revenue in all regions but the [north]',
    'all but [north]',
    'sales without the [north]',
    'sales outside [north]',
    'the non-[northern] regions',
    'anything other than [coffee]',
    'products apart from [coffee]',
    'orders that were never [returned]',
    'orders that have not yet been [shipped]',
    'neither [returned] nor cancelled',
    'not in the [north] or the south',
    'not in the north or the [south]',
    "don't show the [north]",
    'revenue with the [north] excluded',
    'region != [north]',
    'leaving out the [north]',
  ])('%s', (text) => {
    const { said, from, to } = marked(text)
    expect(isExcluded(said, from, to)).toBe(true)
  })

  test.each([
    'orders from the [north]',
    "what hasn't the [north] handed in",
    'no-shows of the [north]',
    'customers with no order [for 3 weeks]',
    'stations without data for at least [2] days',
    "isn't the [milk frother] in stock?",
    "why don't we have [coffee]",
    'not the south but the [north]',
    'not only the [north]',
    'orders not paid. From the [north]',
    'whether or not the [north] is open',
    'no more than 3 [books]',
    "I can't find the revenue of the [north]",
    'but the [north]',
    'nothing but the [north]',
    'unpaid orders that are not late, and of the [north]',
  ])('not in %j', (text) => {
    const { said, from, to } = marked(text)
    expect(isExcluded(said, from, to)).toBe(false)
  })
})

test.each([
  ['orders over [200]', 'up'],
  ['at least [5]', 'up'],
  ['more than the [5]', 'up'],
  ['[5] or more', 'up'],
  ['[5]+ stars', 'up'],
  ['not under [5]', 'up'],
  ['orders under [200]', 'down'],
  ['at most [5]', 'down'],
  ['up to [5]', 'down'],
  ['no more than [5]', 'down'],
  ['not over [200]', 'down'],
  ['[5] or less', 'down'],
  ['top [5] products', null],
  ['the most [5]', null],
  ['[5] and over 3', null],
  ['more orders with [5]', null],
])('%s goes %s', (text, way) => {
  const { said, from, to } = marked(text)
  expect(directionAt(said, from, to)).toBe(way)
})

test('the two ends of an order are told apart, and "at most" is none', () => {
  const sides = (text: string) => contrastsIn(words(text)).map((each) => [each.row, each.side, each.text, each.isOrder])
  expect(sides('the smallest orders')).toEqual([[1, 1, 'smallest', true]])
  expect(sides('the highest amount')).toEqual([[1, 0, 'highest', true]])
  expect(sides('at most 5, at least 3')).toEqual([])
  // States, measures and grains have contraries, too; a grain only where it divides.
  expect(sides('deliveries on time')).toMatchObject([[expect.any(Number), 1, 'on time', false]])
  expect(sides('a day')).toEqual([])
  expect(sides('revenue per day')).toMatchObject([
    [expect.any(Number), 0, 'revenue', false],
    [7, 1, 'per day', false],
  ])
})

test.each([
  ['delete the shops in the west', 'delete'],
  ['revenue; DROP TABLE orders', 'drop'],
  ['please remove order 5', 'remove'],
  ['orders that we had to cancel', null],
  ['drop in revenue', 'drop'],
  ['what was deleted', null],
])('%j asks to %s', (text, word) => {
  expect(writeCommandIn(text)).toBe(word)
})

test.each([
  ['sold without a prescription in [May]', false],
  ['orders that did not arrive in [May]', false],
  ['orders of 2025 but not in [May]', true],
  ['all of 2025 except the month of [May]', true],
])('the words right before a day leave it out, and no others: %s', (text, isOut) => {
  const { said, from, to } = marked(text)
  const [days = null] = recogniseDates('in May', { now: new Date('2026-11-16T12:00:00Z'), timeZone: 'UTC' })
  expect(isLeftOut(said, { from, to, readings: [{ days }] })).toBe(isOut)
})
