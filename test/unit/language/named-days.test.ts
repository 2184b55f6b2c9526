import { expect, test } from 'vitest'
import { recogniseDates } from '../../../server/language/dates.ts'
import { recogniseNumbers } from '../../../server/language/recognise.ts'
import { unitBeside } from '../../../server/language/unit-at.ts'
import { words } from '../../../server/language/words/text.ts'

const clock = { now: new Date('2026-11-16T12:00:00Z'), timeZone: 'UTC' }

test.each([
  ['load on Christmas Eve 2025', '2025-12-24'],
  ['orders on christmas day', '2025-12-25'],
  ['returns on Boxing Day of 2024', '2024-12-26'],
  ['calls on New Year’s Eve', '2025-12-31'],
  ["sign-ups on new year's day", '2026-01-01'],
  ['deliveries planned for Christmas Eve', '2026-12-24'],
  ['Halloween sales', '2026-10-31'],
  ["Valentine's Day 2024", '2024-02-14'],
  ['revenue on Black Friday', '2025-11-28'],
  ['Black Friday 2024', '2024-11-29'],
  ['cyber monday 2023', '2023-11-27'],
  ['On New Year’s Eve, 31 December 2026, who is free', '2026-12-31'],
  ['queue at T3, day before yesterday', '2026-11-14'],
  ['arrivals the day after tomorrow', '2026-11-18'],
  ['fund sizes at last month-end', '2026-10-31'],
  ['checks due by month’s end', '2026-11-30'],
])('%j is one day', (text, day) => {
  expect(recogniseDates(text, clock).map(({ first, last }) => [first, last])).toEqual([[day, day]])
})

test.each([
  ['orders over the last calendar quarter', ['2026-07-01', '2026-09-30']],
  ['hours lost in the past calendar year', ['2025-01-01', '2025-12-31']],
  ['the last full month', ['2026-10-01', '2026-10-31']],
])('%j is a period of the calendar', (text, days) => {
  expect(recogniseDates(text, clock).map(({ first, last }) => [first, last])).toEqual([days])
})

test.each([
  ['cars that just sat there yesterday', [['yesterday', '2026-11-15']]],
  ['the team wed in 2025', [['2025', '2025-01-01']]],
  ['sold on sat', [['on sat', '2026-11-14']]],
  [
    'open sat and sun',
    [
      ['sat', '2026-11-14'],
      ['sun', '2026-11-15'],
    ],
  ],
  ['stations that have not reported in a week', []],
  ['Mon–Sun load of 2025', [['2025', '2025-01-01']]],
  ['profit since New Year', [['New Year', '2026-01-01']]],
  ['due in a week', [['in a week', '2026-11-23']]],
])('%j names days only where they are meant', (text, days) => {
  expect(recogniseDates(text, clock).map(({ start, end, first }) => [text.slice(start, end), first])).toEqual(days)
})

test('a year behind words of the project is its year, whatever language they resemble', () => {
  const known = new Set(['net', 'revenue'])
  const [year] = recogniseDates('net revenue 2025', { ...clock, isStrange: (word) => !known.has(word) })
  expect(year).toMatchObject({ first: '2025-01-01', last: '2025-12-31' })
})

test.each([
  ['gusts of 30 m/s', 30, 'm/s'],
  ['over 30 metres per second', 30, 'm/s'],
  ['faster than 120km/h', 120, 'km/h'],
  ['above 75 kilometres per hour', 75, 'km/h'],
  ['60 mph or more', 60, 'mph'],
  ['60 miles an hour', 60, 'mph'],
])('the number of %j is a speed', (text, value, unit) => {
  expect(unitBeside(text, value)).toMatchObject({ name: unit, dimension: 'speed' })
})

test.each([
  ['plots that used more than 120 kilowatt hours', 120, 'kwh'],
  ['an hour and a half free on Monday', 1.5, 'hours'],
  ['builds over the past fortnight', 1, 'fortnights'],
  ['devices at most half charged', 50, 'percentage'],
  ['jobs that cost at least a fifth more', 20, 'percentage'],
])('the number of %j has its unit', (text, value, unit) => {
  expect(unitBeside(text, value)).toMatchObject({ name: unit })
})

test('a version of three parts is no number, and a plural of digits is that of a name', () => {
  expect(recogniseNumbers('defects of 7.4.2').map(({ value }) => value)).toEqual([])
  expect(words('737s and E-138s of the 1990s').map(({ stem }) => stem)).toEqual([
    '737',
    'and',
    'e',
    '138',
    'of',
    'the',
    '1990s',
  ])
})
